"""The workbench in the admin site: edit in a draft, try, replay, publish."""

import pytest
from django.urls import reverse

from diagnosis.models import Replay, ReplayDifference, Signature, TaxonomyDraft, TaxonomyVersion
from incidents.choices import Role
from tests.diagnosis.services.test_taxonomy import OTHER
from tests.factories import IncidentFactory, UserFactory

pytestmark = pytest.mark.django_db

HOME = "admin:diagnosis_taxonomydraft_changelist"


def fields(**changes: object) -> dict[str, object]:
    row = {**OTHER, "fault_class": OTHER["class"], "examples": "out of memory", "enabled": "on"}
    return {**{name: value for name, value in row.items() if name != "class"}, **changes}


def save(client, **changes: object):
    return client.post(reverse("admin:taxonomy_edit", args=["oom"]), fields(**changes))


def add(client, **changes: object):
    return client.post(reverse("admin:taxonomy_new"), fields(**changes))


def publish(client, draft: TaxonomyDraft, **changes: object):
    given = {"why": "seen", "revision": draft.revision, **changes}
    return client.post(reverse("admin:taxonomy_publish", args=[draft.pk]), given)


@pytest.fixture
def draft(taxonomist, signature) -> TaxonomyDraft:
    save(taxonomist, priority=10)
    return TaxonomyDraft.objects.get()


def replay_with_alarm(draft: TaxonomyDraft) -> Replay:
    replay = Replay.objects.create(
        draft=draft,
        draft_revision=draft.revision,
        base=TaxonomyVersion.objects.latest("id"),
        changes=draft.changes,
        days=7,
        since="2026-11-01T00:00:00Z",
        requested_by="tess",
        state="done",
    )
    side = {"class": "user", "kind": "crash", "summary": "a bug", "suspects": [], "isolated": []}
    ReplayDifference.objects.create(
        replay=replay,
        incident=IncidentFactory(),
        before=side,
        after={**side, "class": "critical", "isolated": ["node-07"]},
        changed=["verdict", "isolation"],
        alarm="is the user's code by today's rules, and node-07 would be isolated",
        newly_isolated=1,
    )
    return replay


def test_saving_in_the_editor_changes_the_draft_and_no_rule(draft, signature):
    signature.refresh_from_db()
    assert set(draft.changes) == {"oom"}
    assert (signature.priority, TaxonomyVersion.objects.count()) == (70, 1)


def test_the_workbench_shows_the_draft_field_by_field(taxonomist, draft):
    page = taxonomist.get(reverse(HOME))
    assert "<del>70</del>" in page.text


def test_a_new_signature_enters_the_draft(taxonomist, signature):
    add(taxonomist, code="mine", pattern="MINE", examples="MINE")
    assert set(TaxonomyDraft.objects.get().changes) == {"mine"}


def test_a_code_that_is_taken_is_refused(taxonomist, signature):
    page = add(taxonomist, code="oom")
    assert page.context["form"].errors["code"] == ["This code is taken."]


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"pattern": r"(a)\1"}, "pattern", "back references"),
        ({"examples": "something else"}, "__all__", "does not match"),
        ({"escalates": "["}, "escalates", "Not YAML"),
        ({"escalates": "to: critical"}, "__all__", "window_hours"),
    ],
)
def test_what_could_not_be_stored_is_refused_with_the_reason(
    taxonomist, signature, changes: dict[str, str], field: str, reason: str
):
    page = save(taxonomist, **changes)
    assert reason in str(page.context["form"].errors[field])
    assert not TaxonomyDraft.objects.exclude(changes={}).exists()


def test_the_second_of_two_windows_is_told(taxonomist, draft):
    page = save(taxonomist, priority=20, revision=draft.revision - 1)
    assert "Someone else changed this" in str(page.context["form"].errors["__all__"])


def test_removing_and_taking_back(taxonomist, draft):
    taxonomist.post(reverse("admin:taxonomy_edit", args=["oom"]), {"remove": "1"})
    draft.refresh_from_db()
    assert draft.changes["oom"]["after"] is None
    taxonomist.post(reverse("admin:taxonomy_undo", args=[draft.pk]), {"code": "oom"})
    draft.refresh_from_db()
    assert draft.changes == {}


def test_publishing_makes_a_version_with_the_reason(taxonomist, draft):
    publish(taxonomist, draft)
    newest = TaxonomyVersion.objects.latest("id")
    assert (newest.who, newest.why) == ("tess", "seen")
    assert Signature.objects.get(code="oom").priority == 10


def test_publishing_without_a_reason_does_nothing(taxonomist, draft):
    page = publish(taxonomist, draft, why="")
    assert page.context["publish_form"].errors["why"]
    assert TaxonomyVersion.objects.count() == 1


def test_a_draft_changed_meanwhile_is_not_published(taxonomist, draft):
    publish(taxonomist, draft, revision=draft.revision - 1)
    assert TaxonomyVersion.objects.count() == 1


def test_warnings_of_a_replay_have_to_be_owned_up_to(taxonomist, draft):
    replay_with_alarm(draft)
    assert "would become an isolation" in taxonomist.get(reverse(HOME)).text
    publish(taxonomist, draft)
    assert TaxonomyVersion.objects.count() == 1
    publish(taxonomist, draft, alarms_seen="on")
    assert TaxonomyVersion.objects.count() == 2


def test_a_draft_that_nobody_replayed_says_so(taxonomist, draft):
    assert "Not replayed as it is now" in taxonomist.get(reverse(HOME)).text


def test_a_replay_shows_both_answers_side_by_side(taxonomist, draft):
    replay = replay_with_alarm(draft)
    page = taxonomist.get(reverse("admin:taxonomy_replay", args=[replay.pk]))
    assert "With the draft" in page.text
    assert "node-07 would be isolated" in page.text


def test_a_replay_is_started_and_cancelled(taxonomist, draft):
    taxonomist.post(reverse("admin:taxonomy_replay_start", args=[draft.pk]), {"days": 7})
    replay = Replay.objects.get()
    taxonomist.post(reverse("admin:taxonomy_cancel", args=[replay.pk]))
    replay.refresh_from_db()
    assert (replay.days, replay.state) == (7, "cancelled")


def test_a_replay_over_no_days_is_refused_in_words(taxonomist, draft):
    address = reverse("admin:taxonomy_replay_start", args=[draft.pk])
    page = taxonomist.post(address, {"days": 0}, follow=True)
    assert "greater than or equal to 1" in page.text
    assert not Replay.objects.exists()


def test_trying_tells_spans_winners_and_examples(taxonomist, signature):
    text = "fine\nCUDA out of memory\n"
    said = taxonomist.post(reverse("admin:taxonomy_try"), fields(text=text)).json()
    (line,) = said["lines"]
    assert (line["number"], line["mine"], line["span"]) == (2, True, {"start": 5, "end": 18})
    assert said["examples"][0]["passes"] is True


def test_trying_a_pattern_that_re2_lacks_says_what_to_write(taxonomist, signature):
    said = taxonomist.post(reverse("admin:taxonomy_try"), fields(pattern="(?<!x)y")).json()
    assert "higher priority" in said["errors"]["pattern"]


def test_trying_needs_no_more_than_what_decides(taxonomist, signature):
    given = {"pattern": "NEW", "priority": 50, "severity": "low", "enabled": "on", "text": "NEW"}
    said = taxonomist.post(reverse("admin:taxonomy_try"), given).json()
    assert said["lines"][0]["mine"] is True


def test_finding_puts_the_code_that_was_meant_first(taxonomist, signature):
    page = taxonomist.get(reverse(HOME), {"q": "xid 95"})
    assert [row["code"] for row in page.context["found"]] == ["xid-95"]


def test_a_signature_that_is_not_there_leads_back(taxonomist, signature):
    page = taxonomist.get(reverse("admin:taxonomy_edit", args=["nothing"]), follow=True)
    assert "There is no signature nothing." in page.text


PAGES = [
    (HOME, 0),
    ("admin:taxonomy_new", 0),
    ("admin:taxonomy_draft", 1),
    ("admin:taxonomy_replay", 2),
    ("admin:taxonomy_progress", 2),
]
CHANGES = [
    ("admin:taxonomy_try", 0),
    ("admin:taxonomy_new", 0),
    ("admin:taxonomy_publish", 1),
    ("admin:taxonomy_discard", 1),
    ("admin:taxonomy_undo", 1),
    ("admin:taxonomy_replay_start", 1),
    ("admin:taxonomy_cancel", 2),
]


@pytest.mark.parametrize("role", list(Role))
def test_only_taxonomists_and_administrators_get_in(client, taxonomist, draft, role: Role):
    keys = {0: [], 1: [draft.pk], 2: [replay_with_alarm(draft).pk]}
    client.force_login(UserFactory(role=role))
    allowed = role in {Role.TAXONOMIST, Role.ADMIN}
    for name, key in PAGES:
        answer = client.get(reverse(name, args=keys[key]))
        assert (answer.status_code == 200) is allowed, name
    for name, key in CHANGES:
        answer = client.post(reverse(name, args=keys[key]))
        assert allowed or answer.status_code in {302, 403}, name
    draft.refresh_from_db()
    assert draft.is_open is not allowed
