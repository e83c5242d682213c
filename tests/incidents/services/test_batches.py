"""One step on several incidents, and taking it back."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.choices import BatchStep, Role
from incidents.exceptions import InvalidInput, NotAllowed, StaleVersion, TransitionRefused
from incidents.models import Batch, Event, Incident
from incidents.services import incidents
from incidents.services.batches import Done, Wanted, change_many, undo
from tests.factories import IncidentFactory, UserFactory, actor

pytestmark = pytest.mark.django_db


def taken(chosen: Sequence[Incident], step: BatchStep = BatchStep.ACKNOWLEDGE, **given) -> Done:
    return change_many(actor=actor(), incidents=chosen, wanted=Wanted(step=step, **given))


def fresh(incident: Incident) -> Incident:
    return Incident.objects.get(pk=incident.pk)


@pytest.mark.parametrize(
    ("step", "given"),
    [
        (BatchStep.ACKNOWLEDGE, {}),
        (BatchStep.ASSIGN, {"assignee": "bob"}),
        (BatchStep.RESOLVE, {"resolution": "user-code", "note": "bug"}),
        (BatchStep.SNOOZE, {}),
        (BatchStep.SNOOZE, {"until": timezone.now() + timedelta(days=900)}),
    ],
)
def test_what_was_taken_back_stands_as_before_as_its_next_version(step: BatchStep, given):
    if "assignee" in given:
        given = {"assignee": UserFactory(username="bob")}
    before = IncidentFactory()
    done = taken([before], step, **given)
    undo(actor=actor(), batch=done.batch)
    after = fresh(before)
    fields = (
        "status",
        "resolution",
        "resolution_note",
        "assignee",
        "acknowledged_at",
        "resolved_at",
    )
    assert [getattr(after, name) for name in fields] == [getattr(before, name) for name in fields]
    assert (after.is_snoozed, after.version) == (False, 3)


def test_each_incident_has_its_event_both_ways():
    chosen = [IncidentFactory(), IncidentFactory()]
    undo(actor=actor(), batch=taken(chosen).batch)
    verbs = Event.objects.filter(incident__in=chosen).values_list("verb", flat=True)
    assert sorted(verbs) == ["incident.acknowledged"] * 2 + ["incident.reverted"] * 2


def test_those_whose_state_refuses_are_named_and_the_others_change():
    new, known = IncidentFactory(), IncidentFactory(status="acknowledged")
    done = taken([new, known])
    assert [one.pk for one in done.changed] == [new.pk]
    assert list(done.refused) == [known.reference]


def test_a_single_one_that_refuses_is_refused():
    with pytest.raises(TransitionRefused):
        taken([IncidentFactory(status="acknowledged")])
    assert not Batch.objects.exists()


def test_a_single_one_is_taken_by_the_version_that_was_seen():
    with pytest.raises(StaleVersion):
        change_many(
            actor=actor(),
            incidents=[IncidentFactory()],
            wanted=Wanted(step=BatchStep.ACKNOWLEDGE),
            expected_version=9,
        )


def test_what_someone_changed_since_is_left_alone_and_named():
    touched, other = IncidentFactory(), IncidentFactory()
    done = taken([touched, other])
    incidents.mitigate(actor=actor(), incident=touched)
    back = undo(actor=actor(), batch=done.batch)
    assert (fresh(touched).status, fresh(other).status) == ("mitigated", "triggered")
    assert list(back.refused) == [touched.reference]


def test_nothing_is_taken_back_twice():
    done = taken([IncidentFactory()])
    undo(actor=actor(), batch=done.batch)
    with pytest.raises(TransitionRefused, match="already"):
        undo(actor=actor(), batch=done.batch)


@pytest.mark.parametrize(
    ("step", "field"), [(BatchStep.RESOLVE, "resolution"), (BatchStep.MERGE, "into")]
)
def test_a_step_that_lacks_something_says_what(step: BatchStep, field: str):
    with pytest.raises(InvalidInput) as refused:
        taken([IncidentFactory()], step)
    assert refused.value.field == field


def test_an_incident_is_not_merged_into_itself():
    one = IncidentFactory()
    with pytest.raises(InvalidInput, match="cannot be merged into itself") as refused:
        taken([one], BatchStep.MERGE, into=one)
    assert refused.value.field == "into"


def test_nothing_chosen_is_refused():
    with pytest.raises(InvalidInput):
        taken([])


def test_a_viewer_changes_and_takes_back_nothing():
    done = taken([IncidentFactory()])
    with pytest.raises(NotAllowed):
        undo(actor=actor(Role.VIEWER), batch=done.batch)
    with pytest.raises(NotAllowed):
        change_many(
            actor=actor(Role.VIEWER),
            incidents=[IncidentFactory()],
            wanted=Wanted(step=BatchStep.ACKNOWLEDGE),
        )


def test_the_event_of_a_change_tells_how_it_stood_before_and_after():
    incident = IncidentFactory()
    taken([incident])
    data = Event.objects.get(verb="incident.acknowledged").data
    assert (data["before"]["status"], data["after"]["status"]) == ("triggered", "acknowledged")
