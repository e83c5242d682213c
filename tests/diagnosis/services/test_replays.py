"""Replays: what a changed rule would do to the incidents of the last days."""

import io
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from diagnosis.models import MaintenanceWindow, Replay, ReplayState, TaxonomyDraft, TaxonomyVersion
from diagnosis.services import drafts, replays, taxonomy
from diagnosis.services.draft_rows import DraftRefused
from diagnosis.services.replay_run import run_slice
from incidents.choices import Resolution, Role
from incidents.exceptions import InvalidInput, LeaseLost, NotAllowed
from incidents.models import Incident
from incidents.services.evidence import attach_evidence
from tests.diagnosis.services.test_run import answer
from tests.diagnosis.services.test_taxonomy import shipped_rows
from tests.factories import IncidentFactory, UserFactory, actor

pytestmark = pytest.mark.django_db

ME = actor(Role.TAXONOMIST)
TEARDOWN = (
    "2026-11-30T08:10:05+00:00 node-07 kernel: NVRM: Xid (PCI:0000:9b:00): 45, pid=4711, "
    "name=python, Ch 00000008\n"
)
BUG = (
    "[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "/app/train.py", line 88, in <module>\n'
    "[rank3]:     main()\n"
    "[rank3]: KeyError: 'labels'\n"
)
FALLEN = TEARDOWN.replace(": 45, pid", ": 79, pid").replace("Ch 00000008", "GPU has fallen off")


def incident(*, days: int = 0, **files: str) -> Incident:
    made: Incident = IncidentFactory(opened_at=timezone.now() - timedelta(days=days))
    names = {"kernel": "node-07.dmesg.log", "training": "rank-3.log"}
    for name, text in files.items():
        stream = io.BytesIO(text.encode())
        attach_evidence(actor=actor(), incident=made, name=names[name], stream=stream)
    return made


@pytest.fixture
def bad_rule() -> TaxonomyDraft:
    """A draft that takes the tear-down of a job (Xid 45) for a broken GPU."""
    rows = [row for row in shipped_rows() if str(row["code"]).startswith("xid-")]
    taxonomy.load_shipped(actor=ME, shipped=rows)
    (row,) = [row for row in rows if row["code"] == "xid-45-preemptive-removal"]
    changed = {
        **row,
        "class": "critical",
        "severity": "critical",
        "action": "isolate-host",
        "implicates": "gpu",
        "follow_on": False,
    }
    draft = drafts.start(actor=ME, author=UserFactory(role=Role.TAXONOMIST))
    return drafts.put(actor=ME, draft=draft, code=str(row["code"]), row=changed)


def replayed(draft: TaxonomyDraft, days: int = 7) -> Replay:
    replay = replays.request_replay(actor=ME, draft=draft, days=days)
    while run_slice(replay.pk):
        pass
    replay.refresh_from_db()
    return replay


def test_a_bad_rule_shows_what_it_would_isolate(bad_rule):
    harmless = incident(kernel=TEARDOWN)
    incident(kernel=FALLEN)
    replay = replayed(bad_rule)
    (found,) = replay.differences.all()
    assert (replay.state, replay.judged, replay.total) == (ReplayState.DONE, 2, 2)
    assert (found.incident, found.changed) == (
        harmless,
        ["verdict", "suspects", "isolation", "advice"],
    )
    assert (found.before["isolated"], found.after["isolated"]) == ([], ["node-07"])


def test_incidents_of_the_user_that_would_isolate_hosts_raise_an_alarm(bad_rule):
    taxonomy.load_shipped(actor=ME, shipped=shipped_rows())
    incident(kernel=TEARDOWN, training=BUG)
    (found,) = replayed(bad_rule).differences.all()
    assert found.alarm == "is the user's code by today's rules, and node-07 would be isolated"
    assert found.newly_isolated == 1


def test_what_a_person_settled_as_a_false_alarm_raises_one_too(bad_rule):
    settled = incident(kernel=TEARDOWN)
    Incident.objects.filter(pk=settled.pk).update(
        status="resolved", resolved_at=timezone.now(), resolution=Resolution.FALSE_ALARM
    )
    (found,) = replayed(bad_rule).differences.all()
    assert found.alarm.startswith("was settled as a false alarm")


def test_a_replay_changes_neither_rules_nor_incidents(bad_rule):
    made = incident(kernel=TEARDOWN)
    replayed(bad_rule)
    made.refresh_from_db()
    assert (made.verdict_class, made.diagnoses.count()) == ("", 0)
    assert TaxonomyVersion.objects.count() == 1


def test_only_incidents_of_the_last_days_that_have_evidence_are_judged(bad_rule):
    incident(kernel=TEARDOWN, days=8)
    incident()
    assert replayed(bad_rule, days=7).total == 0


def test_what_a_cluster_does_differently_counts_on_both_sides(bad_rule):
    made = incident(kernel=TEARDOWN)
    MaintenanceWindow.objects.create(
        cluster=made.cluster,
        starts_at=timezone.now() - timedelta(days=400),
        ends_at=timezone.now() + timedelta(days=400),
        reason="fans",
    )
    assert not replayed(bad_rule).differences.exists()


def test_a_slice_ends_after_its_time_and_the_next_goes_on(bad_rule):
    for _ in range(2):
        incident(kernel=TEARDOWN)
    replay = replays.request_replay(actor=ME, draft=bad_rule, days=7)
    states = []
    for _ in range(3):
        run_slice(replay.pk, seconds=0)
        replay.refresh_from_db()
        states.append((replay.state, replay.judged))
    assert states == [("queued", 1), ("queued", 2), ("done", 2)]


def test_evidence_that_breaks_the_engine_does_not_end_the_replay(bad_rule):
    incident(kernel=TEARDOWN)

    def broken(evidence, *, placement=None, taxonomy=None, **known):
        raise ZeroDivisionError("no spread")

    replay = replays.request_replay(actor=ME, draft=bad_rule, days=7)
    run_slice(replay.pk, engine=broken)
    (found,) = replay.differences.all()
    assert found.error == "ZeroDivisionError: no spread"


def test_a_cancelled_replay_stops_at_the_next_incident(bad_rule):
    incident(kernel=TEARDOWN)
    incident(kernel=TEARDOWN)
    replay = replays.request_replay(actor=ME, draft=bad_rule, days=7)

    def cancelling(evidence, *, placement=None, taxonomy=None, **known):
        replays.cancel(actor=ME, replay=replay)
        return answer()

    assert run_slice(replay.pk, engine=cancelling) is False
    replay.refresh_from_db()
    assert (replay.state, replay.judged) == (ReplayState.CANCELLED, 0)


def test_a_dead_worker_s_replay_is_taken_over_where_it_stood(bad_rule):
    incident(kernel=TEARDOWN)
    replay = replays.request_replay(actor=ME, draft=bad_rule, days=7)
    past = timezone.now() - timedelta(hours=1)
    replays.claim(pk=replay.pk, owner="dead", now=past)
    replays.requeue_expired()
    assert run_slice(replay.pk)
    with pytest.raises(LeaseLost):
        replays.extend_lease(pk=replay.pk, owner="dead")
    replay.refresh_from_db()
    assert replay.state == ReplayState.DONE


def test_a_replay_that_kills_its_workers_ends_with_the_place(bad_rule, settings):
    replay = replays.request_replay(actor=ME, draft=bad_rule, days=7)
    past = timezone.now() - timedelta(hours=1)
    for _ in range(settings.DIAGNOSIS_MAX_ATTEMPTS):
        replays.claim(pk=replay.pk, owner="dies", now=past)
        replays.requeue_expired()
    replay.refresh_from_db()
    assert (replay.state, replay.error) == (
        ReplayState.FAILED,
        "The worker stopped at the first incident, 5 times over.",
    )


def test_two_workers_do_not_share_a_replay(bad_rule):
    replay = replays.request_replay(actor=ME, draft=bad_rule, days=7)
    assert replays.claim(pk=replay.pk, owner="one")
    assert not replays.claim(pk=replay.pk, owner="other")


def test_a_newer_replay_takes_the_place_of_an_older_one(bad_rule):
    older = replays.request_replay(actor=ME, draft=bad_rule, days=7)
    replays.request_replay(actor=ME, draft=bad_rule, days=30)
    older.refresh_from_db()
    assert older.state == ReplayState.CANCELLED


def test_a_worker_is_called_when_the_request_is_committed(
    bad_rule, django_capture_on_commit_callbacks
):
    called = []

    def receive(sender, replay_id, **kwargs):
        called.append(replay_id)

    replays.replay_wanted.connect(receive)
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        replay = replays.request_replay(actor=ME, draft=bad_rule, days=7)
    replays.replay_wanted.disconnect(receive)
    assert called == [replay.pk]


@pytest.mark.parametrize("days", [0, -1, 367])
def test_a_replay_over_a_strange_time_is_refused(bad_rule, days):
    with pytest.raises(InvalidInput):
        replays.request_replay(actor=ME, draft=bad_rule, days=days)


def test_a_draft_that_changes_nothing_is_not_replayed(bad_rule):
    empty = drafts.take_back(actor=ME, draft=bad_rule, code="xid-45-preemptive-removal")
    with pytest.raises(DraftRefused):
        replays.request_replay(actor=ME, draft=empty, days=7)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER, Role.OPERATOR])
def test_replays_take_a_taxonomist(bad_rule, role):
    with pytest.raises(NotAllowed):
        replays.request_replay(actor=actor(role), draft=bad_rule, days=7)
