"""The feed: in order, from a cursor, nothing skipped."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from incidents import selectors
from incidents.choices import Role, Source
from incidents.models import Event, Incident
from incidents.selectors.records import SETTLING
from incidents.services.events import record
from tests.factories import IncidentFactory, actor

pytestmark = pytest.mark.django_db
OLD = timedelta(minutes=5)


@pytest.fixture
def reader(program: Callable[..., APIClient]) -> APIClient:
    """A program that reads; what issuing its token recorded is long past."""
    return program(Role.VIEWER)


def happens(verb: str = "incident.noted", incident: Incident | None = None) -> int:
    return record(actor=actor(), verb=verb, text="x", incident=incident).pk


def feed(api: APIClient, query: str) -> Any:
    return api.get(f"/api/v1/events?{query}").json()


def test_reading_on_from_the_cursor_gives_each_event_once_in_order(reader: APIClient):
    start = feed(reader, "since=0")["since"]
    made = [happens() for _ in range(5)]
    seen, since = [], start
    for _ in range(3):
        part = feed(reader, f"since={since}&limit=2")
        seen += [event["id"] for event in part["results"]]
        since = part["since"]
    assert (seen, since) == (made, made[-1])


def test_more_is_announced_until_all_is_read(reader: APIClient):
    start = feed(reader, "since=0")["since"]
    for _ in range(3):
        happens()
    assert feed(reader, f"since={start}&limit=2")["has_more"] is True
    assert feed(reader, f"since={start}&limit=3")["has_more"] is False


def test_nothing_new_keeps_the_cursor(reader: APIClient):
    last = happens()
    assert feed(reader, f"since={last}") == {"results": [], "since": last, "has_more": False}


def test_a_filter_moves_the_cursor_past_what_it_leaves_out(reader: APIClient):
    incident = IncidentFactory()
    wanted, other = happens(incident=incident), happens()
    part = feed(reader, f"incident={incident.pk}&verb=incident.noted")
    assert [event["id"] for event in part["results"]] == [wanted]
    assert part["since"] == other


def test_an_event_says_who_did_what_through_which_door(reader: APIClient):
    incident = IncidentFactory()
    event = feed(reader, f"since={happens(incident=incident) - 1}")["results"][0]
    assert (event["actor"], event["source"]) == ("a operator", "api")
    assert (event["incident"], event["job"], event["host"]) == (incident.pk, None, None)
    assert event["time"].endswith("Z")


def recorded(pk: int, *, ago: timedelta) -> None:
    Event.objects.bulk_create(
        [
            Event(
                pk=pk,
                verb="x",
                text="x",
                actor="x",
                source=Source.API,
                time=timezone.now() - ago,
            )
        ]
    )


def test_a_young_event_after_a_gap_is_held_back():
    recorded(101, ago=OLD)
    recorded(103, ago=timedelta(seconds=1))
    assert selectors.last_settled_event(timezone.now()) == 101


def test_an_event_that_fills_the_gap_frees_those_after_it():
    recorded(101, ago=OLD)
    recorded(103, ago=timedelta(seconds=1))
    recorded(102, ago=timedelta(seconds=2))
    assert selectors.last_settled_event(timezone.now()) == 103


def test_a_gap_that_stays_is_one_that_was_undone():
    recorded(101, ago=OLD)
    recorded(103, ago=SETTLING + timedelta(seconds=1))
    recorded(104, ago=timedelta(seconds=1))
    assert selectors.last_settled_event(timezone.now()) == 104


def test_before_the_first_event_there_is_nothing():
    assert selectors.last_settled_event(timezone.now()) == 0
