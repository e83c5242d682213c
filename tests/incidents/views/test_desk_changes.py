"""Steps on several incidents from the desk, and the undo that a notice offers."""

import json

import pytest
from django.test import Client

from incidents.models import Batch, Incident
from tests.factories import IncidentFactory, UserFactory

HTMX = {"HX-Request": "true"}


def take(client: Client, incidents: list[Incident], do: str, **given):
    body = {"incident": [one.pk for one in incidents], "do": do, **given}
    return client.post("/incidents/change", body, headers=HTMX)


def states(incidents: list[Incident]) -> set[str]:
    keys = [one.pk for one in incidents]
    return set(Incident.objects.filter(pk__in=keys).values_list("status", flat=True))


@pytest.fixture
def two(db) -> list[Incident]:
    return [IncidentFactory(), IncidentFactory()]


def test_the_notice_of_a_step_leads_to_its_undo(responder: Client, two: list[Incident]):
    notice = json.loads(take(responder, two, "acknowledge")["HX-Trigger"])["notice"]
    assert states(two) == {"acknowledged"}
    responder.post(notice["undo"], headers=HTMX)
    assert states(two) == {"triggered"}


def test_an_undo_names_the_rows_that_it_brings_back(responder: Client, two: list[Incident]):
    source, target = two
    take(responder, two, "merge", into=target.reference)
    answer = responder.post(f"/changes/{Batch.objects.get().pk}/undo", headers=HTMX)
    assert json.loads(answer["HX-Trigger"])["changed"]["incidents"] == [source.pk]


def test_undone_twice_is_told(responder: Client, two: list[Incident]):
    take(responder, two, "acknowledge")
    address = f"/changes/{Batch.objects.get().pk}/undo"
    responder.post(address, headers=HTMX)
    assert responder.post(address, headers=HTMX).status_code == 409


def test_several_are_given_to_someone(responder: Client, two: list[Incident]):
    ben = UserFactory(username="ben")
    take(responder, two, "assign", assignee="ben")
    assert Incident.objects.filter(assignee=ben).count() == 2


@pytest.mark.parametrize(
    ("do", "given"),
    [
        ("assign", {"assignee": "ghost"}),
        ("snooze-9y", {}),
        ("merge", {"into": "INC-9999"}),
        ("merge", {"into": ""}),
        ("resolve", {}),
    ],
)
def test_what_makes_no_sense_is_refused(do: str, given, responder: Client, two: list[Incident]):
    assert take(responder, two, do, **given).status_code == 422
    assert states(two) == {"triggered"}


@pytest.mark.parametrize("choice", ["1h", "news"])
def test_snoozed_ones_leave_the_desk_and_are_asked_for(
    choice: str, responder: Client, two: list[Incident]
):
    take(responder, two, f"snooze-{choice}")
    assert len(responder.get("/").context["rows"]) == 0
    assert len(responder.get("/?snoozed=yes").context["rows"]) == 2


def test_several_are_merged_into_one_of_them(responder: Client, two: list[Incident]):
    source, target = two
    take(responder, two, "merge", into=target.reference)
    source.refresh_from_db()
    assert source.merged_into == target


def test_a_desk_on_which_a_snooze_ends_is_a_new_one(responder: Client, two: list[Incident]):
    take(responder, two[:1], "snooze-1h")
    first = responder.get("/", headers=HTMX)
    Incident.objects.filter(pk=two[0].pk).update(snoozed_until="2020-01-01T00:00:00Z")
    again = responder.get("/", headers={**HTMX, "If-None-Match": first["ETag"]})
    assert again.status_code == 200


def test_a_viewer_changes_nothing(viewer: Client, two: list[Incident]):
    assert take(viewer, two, "acknowledge").status_code == 403
