"""Snoozing, and what wakes an incident."""

import io
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from incidents.choices import Resolution, Severity
from incidents.exceptions import InvalidInput, StaleVersion, TransitionRefused
from incidents.models import Event, Incident
from incidents.services import incidents
from incidents.services.evidence import attach_evidence
from incidents.services.snoozing import snooze, wake
from tests.factories import IncidentFactory, actor

pytestmark = pytest.mark.django_db


def asleep(incident: Incident | None = None, **given) -> Incident:
    return snooze(actor=actor(), incident=incident or IncidentFactory(), **given)


def is_asleep(incident: Incident) -> bool:
    incident.refresh_from_db()
    return incident.is_snoozed


def test_it_sleeps_until_the_time_that_was_said():
    incident = asleep(until=timezone.now() + timedelta(hours=1))
    assert incident.is_snoozed
    with time_machine.travel(timezone.now() + timedelta(hours=2)):
        assert not incident.is_snoozed


def test_a_time_that_is_past_is_refused():
    with pytest.raises(InvalidInput):
        asleep(until=timezone.now() - timedelta(minutes=1))


def test_what_is_resolved_is_not_snoozed():
    incident = IncidentFactory()
    incidents.resolve(actor=actor(), incident=incident, resolution=Resolution.OTHER)
    with pytest.raises(TransitionRefused):
        asleep(incident)


def test_the_second_of_two_people_is_told():
    with pytest.raises(StaleVersion):
        asleep(expected_version=7)


def test_a_note_and_a_file_wake_what_waits_for_news():
    for news in (
        lambda one: incidents.add_note(actor=actor(), incident=one, text="vendor called"),
        lambda one: attach_evidence(
            actor=actor(), incident=one, name="new.log", stream=io.BytesIO(b"new")
        ),
    ):
        incident = asleep()
        news(incident)
        assert not is_asleep(incident)


def test_news_do_not_wake_what_sleeps_until_a_time():
    incident = asleep(until=timezone.now() + timedelta(hours=1))
    incidents.add_note(actor=actor(), incident=incident, text="vendor called")
    assert is_asleep(incident)


@pytest.mark.parametrize(("severity", "sleeps"), [("high", True), ("critical", False)])
def test_only_a_graver_report_wakes_what_sleeps_until_a_time(severity: str, sleeps: bool):
    incident = IncidentFactory(dedup_key="k", severity="high")
    asleep(incident, until=timezone.now() + timedelta(hours=1))
    incidents.open_incident(
        actor=actor(), title="again", dedup_key="k", severity=Severity(severity)
    )
    assert is_asleep(incident) is sleeps


def test_waking_by_news_is_told_and_counts_no_version():
    incident = asleep()
    incidents.add_note(actor=actor(), incident=incident, text="x")
    incident.refresh_from_db()
    assert incident.version == 2
    assert Event.objects.filter(verb="incident.woken").count() == 1


def test_someone_wakes_it_by_hand():
    assert not wake(actor=actor(), incident=asleep()).is_snoozed


def test_waking_what_is_awake_changes_nothing():
    incident = IncidentFactory()
    assert wake(actor=actor(), incident=incident).version == 1


def test_resolving_ends_the_snooze():
    incident = incidents.resolve(actor=actor(), incident=asleep(), resolution=Resolution.OTHER)
    assert not incident.snoozed_for_news
