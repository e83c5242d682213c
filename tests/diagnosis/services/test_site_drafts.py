"""Overrides, ignore rules and maintenance windows in a draft: replayed before they are saved."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from diagnosis.models import IgnoreRule, MaintenanceWindow, SignatureOverride, TaxonomyDraft
from diagnosis.services import drafts, replays, taxonomy
from diagnosis.services.draft_rows import DraftRefused
from diagnosis.services.replay_run import run_slice
from diagnosis.services.rulebook import ignore_row
from diagnosis.services.site_drafts import put_site_rule, take_back_site_rule
from diagnosis.taxonomy.fields import TaxonomyError
from incidents.choices import Role
from incidents.models import Incident, User
from tests.diagnosis.services.test_replays import FALLEN, ME, incident, replayed
from tests.diagnosis.services.test_taxonomy import shipped_rows
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def tom() -> User:
    made: User = UserFactory(username="tom", role=Role.TAXONOMIST, is_staff=True)
    return made


@pytest.fixture
def draft(tom: User) -> TaxonomyDraft:
    rows = [row for row in shipped_rows() if str(row["code"]).startswith("xid-")]
    taxonomy.load_shipped(actor=ME, shipped=rows)
    return drafts.start(actor=ME, author=tom)


@pytest.fixture
def broken(draft: TaxonomyDraft) -> Incident:
    """An incident that isolates node-07 by today's rules."""
    return incident(kernel=FALLEN)


def ignoring(where: Incident, **fields: str) -> dict[str, object]:
    expires = (timezone.now() + timedelta(days=9)).strftime("%Y-%m-%dT%H:%M:%S+00:00")
    row = {"signature": "xid-79-fallen-off-bus", "host": "node-07", "reason": "known", **fields}
    return {**row, "expires": expires, "cluster": where.cluster.name}


def put(draft: TaxonomyDraft, section: str, after, before=None) -> TaxonomyDraft:
    return put_site_rule(actor=ME, draft=draft, section=section, before=before, after=after)


def test_a_replay_judges_by_an_ignore_rule_that_nobody_saved(draft, broken):
    put(draft, "ignore_rules", ignoring(broken))
    (found,) = replayed(draft).differences.all()
    assert (found.before["isolated"], found.after["isolated"]) == (["node-07"], [])
    assert not IgnoreRule.objects.exists()


def test_a_replay_judges_by_an_override_that_nobody_saved(draft, broken):
    row = {"cluster": broken.cluster.name, "signature": "xid-79-fallen-off-bus"}
    put(draft, "overrides", {**row, "disabled": True, "reason": "flaky riser"})
    (found,) = replayed(draft).differences.all()
    assert "isolation" in found.changed


def test_publishing_saves_the_rules_as_one_version(draft, broken):
    draft = put(draft, "ignore_rules", ignoring(broken))
    version = drafts.publish(actor=ME, draft=draft, why="seen", revision=draft.revision)
    assert IgnoreRule.objects.get().host == "node-07"
    assert [row["host"] for row in version.ignore_rules] == ["node-07"]


def test_a_rule_is_changed_and_removed_through_the_draft(draft, broken):
    draft = put(draft, "ignore_rules", ignoring(broken))
    drafts.publish(actor=ME, draft=draft, why="seen", revision=draft.revision)
    before = ignore_row(IgnoreRule.objects.get())
    second = drafts.start(actor=ME, author=draft.author)
    second = put(second, "ignore_rules", {**before, "reason": "still known"}, before)
    drafts.publish(actor=ME, draft=second, why="said better", revision=second.revision)
    assert IgnoreRule.objects.get().reason == "still known"
    third = drafts.start(actor=ME, author=draft.author)
    third = put(third, "ignore_rules", None, ignore_row(IgnoreRule.objects.get()))
    drafts.publish(actor=ME, draft=third, why="repaired", revision=third.revision)
    assert not IgnoreRule.objects.exists()


def test_a_rule_that_was_removed_elsewhere_meanwhile_is_refused(draft, broken):
    draft = put(draft, "ignore_rules", ignoring(broken))
    drafts.publish(actor=ME, draft=draft, why="seen", revision=draft.revision)
    before = ignore_row(IgnoreRule.objects.get())
    second = drafts.start(actor=ME, author=draft.author)
    second = put(second, "ignore_rules", {**before, "reason": "other"}, before)
    IgnoreRule.objects.all().delete()
    with pytest.raises(DraftRefused, match="Changed elsewhere"):
        drafts.publish(actor=ME, draft=second, why="x", revision=second.revision)


def test_what_cannot_be_used_is_refused_and_what_is_taken_back_is_gone(draft, broken):
    with pytest.raises(TaxonomyError, match="signature or a pattern"):
        put(draft, "ignore_rules", {**ignoring(broken), "signature": ""})
    draft = put(draft, "ignore_rules", ignoring(broken))
    assert take_back_site_rule(actor=ME, draft=draft, position=0).is_empty


def test_the_form_of_a_window_puts_it_into_the_draft_and_the_draft_shows_it(draft, broken, tom):
    client = Client()
    client.force_login(tom)
    given = {
        "cluster": broken.cluster.pk,
        "hosts": "node-07",
        "job": "",
        "starts_at": "2026-11-01T00:00",
        "ends_at": "2027-11-01T00:00",
        "reason": "new fans",
        "why": "",
        "_draft": "1",
    }
    answer = client.post("/admin/diagnosis/maintenancewindow/add/", given, follow=True)
    page = answer.content.decode()
    assert "new fans" in page
    assert "Publish 1 change" in page
    assert "Take back: Maintenance window on node-07: new fans" in page
    assert not MaintenanceWindow.objects.exists()
    draft.refresh_from_db()
    assert draft.site_changes[0]["after"]["hosts"] == ["node-07"]


def test_a_form_with_a_mistake_is_shown_again_and_changes_nothing(draft, broken, tom):
    client = Client()
    client.force_login(tom)
    answer = client.post("/admin/diagnosis/signatureoverride/add/", {"_draft": "1"})
    assert "This field is required" in answer.content.decode()
    draft.refresh_from_db()
    assert draft.is_empty
    assert not SignatureOverride.objects.exists()


def test_a_replay_of_a_site_s_rules_alone_is_one_of_the_draft(draft, broken):
    put(draft, "ignore_rules", ignoring(broken))
    replay = replays.request_replay(actor=ME, draft=draft, days=7)
    run_slice(replay.pk)
    replay.refresh_from_db()
    assert len(replay.site_changes) == 1
