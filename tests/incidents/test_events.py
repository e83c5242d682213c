"""The timeline is append-only."""

import pytest
from django.db.models import ProtectedError

from incidents.choices import Source
from incidents.exceptions import AppendOnly
from incidents.models import Event, Incident
from incidents.services.events import record
from tests.factories import IncidentFactory, UserFactory, actor

pytestmark = pytest.mark.django_db


@pytest.fixture
def event() -> Event:
    return record(actor=actor(), verb="incident.noted", text="x", incident=IncidentFactory())


def test_an_event_carries_actor_and_source(event: Event):
    assert (event.actor, event.source) == ("a operator", Source.API)


def test_ids_grow_so_that_they_serve_as_cursor(event: Event):
    assert record(actor=actor(), verb="incident.noted", text="y").pk > event.pk


@pytest.mark.parametrize(
    "change",
    [
        lambda event: event.save(),
        lambda event: event.delete(),
        lambda event: Event.objects.update(text="y"),
        lambda event: Event.objects.filter(pk=event.pk).delete(),
        lambda event: Event.objects.bulk_update([event], ["text"]),
        lambda event: event.incident.events.all().delete(),
    ],
)
def test_nothing_edits_or_deletes_an_event(event: Event, change):
    with pytest.raises(AppendOnly):
        change(event)


def test_what_an_event_tells_of_cannot_be_deleted_either(event: Event):
    with pytest.raises(ProtectedError):
        Incident.objects.get().delete()


def test_someone_who_acted_cannot_be_deleted():
    person = UserFactory()
    Event.objects.create(verb="x", text="x", actor="x", user=person, source=Source.API)
    with pytest.raises(ProtectedError):
        person.delete()
