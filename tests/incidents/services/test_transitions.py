"""Every step from every status, and two people acting at once."""

from typing import cast

import pytest

from incidents.choices import IncidentStatus, Resolution, Role, Source
from incidents.exceptions import InvalidInput, NotAllowed, StaleVersion, TransitionRefused
from incidents.models import Event, Incident, User
from incidents.roles import Actor
from incidents.services import incidents
from incidents.services.transitions import TRANSITIONS, Step, allowed_steps
from tests.factories import IncidentFactory, UserFactory, actor

pytestmark = pytest.mark.django_db

LEADS_TO = {
    ("triggered", "acknowledge"): "acknowledged",
    ("triggered", "mitigate"): "mitigated",
    ("triggered", "resolve"): "resolved",
    ("acknowledged", "mitigate"): "mitigated",
    ("acknowledged", "resolve"): "resolved",
    ("mitigated", "resolve"): "resolved",
    ("mitigated", "reopen"): "triggered",
    ("resolved", "reopen"): "triggered",
}


def incident_that_is(status: str) -> Incident:
    incident = IncidentFactory()
    if status == IncidentStatus.RESOLVED:
        return incidents.resolve(
            actor=actor(), incident=incident, resolution=Resolution.USER_CODE, note="bug 7"
        )
    step = {"acknowledged": incidents.acknowledge, "mitigated": incidents.mitigate}.get(status)
    return step(actor=actor(), incident=incident) if step else incident


def as_person(person: User | None = None) -> Actor:
    return Actor.of_user(person or UserFactory(), source=Source.BROWSER)


def take(step: str, incident: Incident, **given) -> Incident:
    if step == Step.RESOLVE:
        given["resolution"] = Resolution.PART_ISOLATED
    taken: Incident = getattr(incidents, step)(actor=actor(), incident=incident, **given)
    return taken


@pytest.mark.parametrize("status", IncidentStatus.values)
@pytest.mark.parametrize("step", list(Step))
def test_a_step_leads_where_the_table_says_or_is_refused_with_what_is_possible(status, step):
    incident = incident_that_is(status)
    after = LEADS_TO.get((status, step.value))
    if after:
        assert take(step, incident).status == after
        return
    with pytest.raises(TransitionRefused, match=f"is {status}.*{allowed_steps(status)[0]}"):
        take(step, incident)


def test_every_step_is_in_the_table():
    assert set(TRANSITIONS) == set(Step)


@pytest.mark.parametrize("step", list(Step))
def test_a_viewer_takes_no_step(step: Step):
    given = {"resolution": Resolution.OTHER} if step == Step.RESOLVE else {}
    incident = IncidentFactory()
    with pytest.raises(NotAllowed):
        getattr(incidents, step)(actor=actor(Role.VIEWER), incident=incident, **given)


@pytest.mark.parametrize("step", ["acknowledge", "mitigate", "resolve", "assign"])
def test_the_second_of_two_people_is_told_and_nothing_is_overwritten(step: str):
    incident = IncidentFactory()
    seen = incident.version
    incidents.assign(actor=actor(), incident=incident, assignee=None, expected_version=seen)
    given = {"assignee": UserFactory()} if step == "assign" else {}
    with pytest.raises(StaleVersion) as told:
        take(step, incident, expected_version=seen, **given)
    incident.refresh_from_db()
    assert (told.value.expected, told.value.current) == (seen, incident.version)
    assert incident.status == IncidentStatus.TRIGGERED


def test_each_change_counts_the_version_and_leaves_one_event():
    incident = incident_that_is("acknowledged")
    assert incident.version == 2
    assert Event.objects.filter(incident=incident).count() == 1


def test_whoever_acknowledges_an_incident_that_nobody_has_gets_it():
    person = UserFactory()
    mine = incidents.acknowledge(actor=as_person(person), incident=IncidentFactory())
    assert mine.assignee == person


def test_acknowledging_takes_an_incident_from_nobody():
    other = UserFactory()
    incident = IncidentFactory(assignee=other)
    assert incidents.acknowledge(actor=as_person(), incident=incident).assignee == other


def test_reopening_clears_how_and_when_it_ended():
    incident = incidents.reopen(actor=actor(), incident=incident_that_is("resolved"))
    ended = (incident.resolution, incident.resolution_note, incident.resolved_at)
    assert ended == ("", "", None)


def test_reopening_is_refused_while_another_incident_has_the_key():
    first = IncidentFactory(dedup_key="k")
    incidents.resolve(actor=actor(), incident=first, resolution=Resolution.OTHER)
    second = IncidentFactory(dedup_key="k")
    with pytest.raises(TransitionRefused, match=second.reference):
        incidents.reopen(actor=actor(), incident=first)


def test_an_incident_is_not_given_to_someone_inactive():
    with pytest.raises(InvalidInput):
        incidents.assign(
            actor=actor(), incident=IncidentFactory(), assignee=UserFactory(is_active=False)
        )


def test_an_unknown_resolution_is_refused():
    with pytest.raises(InvalidInput):
        incidents.resolve(
            actor=actor(), incident=IncidentFactory(), resolution=cast("Resolution", "because")
        )


def test_a_note_is_added_to_the_timeline_and_changes_no_version():
    incident = IncidentFactory()
    incidents.add_note(actor=actor(), incident=incident, text=" looked at the rack ")
    incident.refresh_from_db()
    event = Event.objects.get(incident=incident)
    assert (event.text, event.verb, incident.version) == (
        "looked at the rack",
        "incident.noted",
        1,
    )


def test_an_empty_note_is_refused():
    with pytest.raises(InvalidInput):
        incidents.add_note(actor=actor(), incident=IncidentFactory(), text=" ")
