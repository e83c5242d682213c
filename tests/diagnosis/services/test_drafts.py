"""Drafts: nothing goes live by accident."""

import pytest

from diagnosis.models import DraftState, Signature, TaxonomyDraft, TaxonomyVersion
from diagnosis.services import drafts, rule_changes, taxonomy
from diagnosis.services.draft_rows import DraftRefused
from diagnosis.taxonomy.rows import TaxonomyError
from incidents.choices import Role, Source
from incidents.exceptions import InvalidInput, NotAllowed, StaleVersion
from incidents.models import Event
from incidents.roles import Actor
from tests.diagnosis.services.test_taxonomy import OTHER, ROW, load
from tests.factories import UserFactory, actor

pytestmark = pytest.mark.django_db

ME = actor(Role.TAXONOMIST)


@pytest.fixture
def draft() -> TaxonomyDraft:
    load()
    return drafts.start(actor=ME, author=UserFactory(role=Role.TAXONOMIST))


def put(draft: TaxonomyDraft, row: dict[str, object] | None, code: str = "oom") -> TaxonomyDraft:
    return drafts.put(actor=ME, draft=draft, code=code, row=row)


def publish(draft: TaxonomyDraft, why: str = "seen in a review") -> TaxonomyVersion:
    return drafts.publish(actor=ME, draft=draft, why=why, revision=draft.revision)


def test_a_draft_changes_no_rule(draft):
    put(draft, {**OTHER, "class": "user"})
    assert Signature.objects.get(code="oom").fault_type.fault_class == "critical"
    assert TaxonomyVersion.objects.count() == 1


def test_publishing_makes_all_of_it_one_version(draft):
    changed = put(draft, {**OTHER, "class": "user"})
    changed = put(changed, {**ROW, "code": "new", "pattern": "NEW", "examples": []}, "new")
    version = publish(changed)
    changed.refresh_from_db()
    assert (version.why, changed.published_as, changed.state) == (
        "seen in a review",
        version,
        DraftState.PUBLISHED,
    )
    assert taxonomy.current().taxonomy.by_code["oom"].cls == "user"
    assert Event.objects.filter(verb="taxonomy.published").count() == 1


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({**OTHER, "pattern": "(?=x)"}, TaxonomyError),
        ({**OTHER, "examples": ["other"]}, TaxonomyError),
        ({**OTHER, "code": "renamed"}, DraftRefused),
    ],
)
def test_a_row_that_could_not_be_stored_does_not_enter_a_draft(draft, row, error):
    with pytest.raises(error):
        put(draft, row)
    draft.refresh_from_db()
    assert draft.changes == {}


def test_a_change_back_is_no_change(draft):
    changed = put(draft, {**OTHER, "priority": 10})
    assert put(changed, OTHER).changes == {}


def test_a_change_can_be_taken_back(draft):
    changed = put(draft, {**OTHER, "priority": 10})
    assert drafts.take_back(actor=ME, draft=changed, code="oom").changes == {}


def test_signatures_of_one_fault_type_change_together(draft):
    second = {**OTHER, "code": "oom-2", "fault_type": "oom", "pattern": "OOM", "examples": []}
    rule_changes.write(actor=ME, changes={"oom-2": second}, why="another wording")
    changed = put(draft, {**OTHER, "class": "user"})
    assert set(changed.changes) == {"oom", "oom-2"}
    publish(changed)
    assert {one.cls for one in taxonomy.current().taxonomy.signatures} == {"user", "critical"}


def test_what_changed_elsewhere_meanwhile_is_not_overwritten(draft):
    changed = put(draft, {**OTHER, "priority": 10})
    rule_changes.write(actor=ME, changes={"oom": {**OTHER, "priority": 99}}, why="urgent")
    with pytest.raises(DraftRefused, match="oom"):
        publish(changed)
    assert Signature.objects.get(code="oom").priority == 99


def test_the_second_of_two_windows_is_told(draft):
    put(draft, {**OTHER, "priority": 10})
    with pytest.raises(StaleVersion):
        drafts.put(actor=ME, draft=draft, code="oom", row=ROW, expected_revision=1)


def test_a_draft_that_was_not_looked_at_last_is_not_published(draft):
    put(draft, {**OTHER, "priority": 10})
    with pytest.raises(StaleVersion):
        drafts.publish(actor=ME, draft=draft, why="because", revision=1)


def test_publishing_needs_a_reason_and_something_to_publish(draft):
    with pytest.raises(DraftRefused, match="changes nothing"):
        publish(draft)
    with pytest.raises(InvalidInput):
        publish(put(draft, {**OTHER, "priority": 10}), why="")


def test_a_discarded_draft_takes_no_more_changes(draft):
    drafts.discard(actor=ME, draft=draft)
    with pytest.raises(DraftRefused, match="discarded"):
        put(draft, {**OTHER, "priority": 10})


def test_someone_has_one_open_draft(draft):
    me = Actor.of_user(draft.author, source=Source.ADMIN)
    assert drafts.start(actor=me, author=draft.author) == draft


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER, Role.OPERATOR])
def test_drafts_take_a_taxonomist(draft, role):
    with pytest.raises(NotAllowed):
        drafts.start(actor=actor(role), author=draft.author)
    with pytest.raises(NotAllowed):
        drafts.put(actor=actor(role), draft=draft, code="oom", row=None)
    with pytest.raises(NotAllowed):
        drafts.publish(actor=actor(role), draft=draft, why="because", revision=1)
