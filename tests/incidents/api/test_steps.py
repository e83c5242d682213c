"""Merging, splitting, snoozing, batches, tickets and views over REST."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from incidents.choices import Role
from incidents.models import Incident
from tests.factories import EvidenceFactory, IncidentFactory, UserFactory

pytestmark = pytest.mark.django_db
API = "/api/v1"


def post(api: APIClient, at: str, body: Any = None, **headers: Any) -> Any:
    return api.post(f"{API}/{at}", body or {}, format="json", **headers)


def merged(api: APIClient) -> tuple[Incident, Incident]:
    source, target = IncidentFactory(), IncidentFactory()
    answer = post(api, f"incidents/{source.pk}/merge", {"into": target.pk})
    assert answer.status_code == 200
    return source, target


def test_a_merged_incident_is_read_with_where_it_went(api: APIClient):
    source, target = merged(api)
    shown = api.get(f"{API}/incidents/{source.pk}").json()
    assert (shown["merged_into"], shown["resolution"]) == (target.pk, "duplicate")


def test_a_change_of_a_merged_incident_is_a_problem_of_its_own(api: APIClient):
    source, _ = merged(api)
    answer = api.patch(
        f"{API}/incidents/{source.pk}",
        {"status": "triggered"},
        format="json",
        HTTP_IF_MATCH="*",
    )
    assert (answer.status_code, answer.json()["type"]) == (409, "/api/v1/problems/merged")


def test_a_note_on_a_merged_incident_goes_where_it_went(api: APIClient):
    source, target = merged(api)
    note = post(api, f"incidents/{source.pk}/notes", {"text": "vendor called"})
    assert note.json()["incident"] == target.pk


def test_it_is_taken_out_again(api: APIClient):
    source, _ = merged(api)
    shown = post(api, f"incidents/{source.pk}/unmerge").json()
    assert (shown["merged_into"], shown["status"]) == (None, "triggered")


def test_what_is_part_of_nothing_is_not_taken_out(api: APIClient):
    answer = post(api, f"incidents/{IncidentFactory().pk}/unmerge")
    assert answer.status_code == 409


@pytest.mark.parametrize(
    ("step", "body"), [("merge", {"into": None}), ("snooze", {}), ("split", {"title": "x"})]
)
def test_a_step_by_a_version_that_is_past_is_refused(api: APIClient, step: str, body: Any):
    incident = IncidentFactory()
    if "into" in body:
        body = {"into": IncidentFactory().pk}
    answer = post(api, f"incidents/{incident.pk}/{step}", body, HTTP_IF_MATCH='"7-x"')
    assert answer.status_code == 412


def test_files_are_split_off_into_a_new_incident(api: APIClient):
    file = EvidenceFactory()
    body = {"title": "another job", "evidence": [file.pk]}
    answer = post(api, f"incidents/{file.incident_id}/split", body)
    assert answer.status_code == 201
    assert answer.json()["split_from"] == file.incident_id
    assert api.get(answer["Location"]).json() == answer.json()


def test_it_is_snoozed_and_woken(api: APIClient):
    at = f"incidents/{IncidentFactory().pk}/snooze"
    assert post(api, at, {"until": "2100-01-01T00:00:00Z"}).json()["snoozed_until"]
    assert api.delete(f"{API}/{at}").json()["snoozed_until"] is None
    assert post(api, at).json()["snoozed_for_news"] is True


def test_a_snooze_until_the_past_names_its_field(api: APIClient):
    at = f"incidents/{IncidentFactory().pk}/snooze"
    answer = post(api, at, {"until": "2020-01-01T00:00:00Z"})
    assert answer.json()["errors"][0]["pointer"] == "#/until"


def test_snoozed_incidents_are_filtered(api: APIClient):
    sleeping, awake = IncidentFactory(), IncidentFactory()
    post(api, f"incidents/{sleeping.pk}/snooze")
    found = {
        which: [row["id"] for row in api.get(f"{API}/incidents?snoozed={which}").json()["results"]]
        for which in ("yes", "no", "any")
    }
    assert found == {"yes": [sleeping.pk], "no": [awake.pk], "any": [awake.pk, sleeping.pk]}


def test_several_are_changed_at_once_and_taken_back(api: APIClient):
    chosen = [IncidentFactory().pk, IncidentFactory().pk]
    done = post(api, "batches", {"incidents": chosen, "step": "acknowledge"})
    assert (done.status_code, done.json()["incidents"]) == (201, chosen)
    back = post(api, f"batches/{done.json()['id']}/undo")
    assert sorted(back.json()["incidents"]) == chosen
    assert set(Incident.objects.values_list("status", flat=True)) == {"triggered"}
    assert api.get(done["Location"]).json()["undone_at"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"incidents": [], "step": "acknowledge"}, "#/incidents"),
        ({"incidents": ["one"], "step": "resolve"}, "#/resolution"),
        ({"incidents": ["one"], "step": "merge"}, "#/into"),
        ({"incidents": ["one"], "step": "dance"}, "#/step"),
    ],
)
def test_a_batch_that_makes_no_sense_is_refused_by_field(api: APIClient, body: Any, pointer: str):
    one = IncidentFactory().pk
    body["incidents"] = [one for _ in body["incidents"]]
    answer = post(api, "batches", body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, pointer)


def test_tickets_are_linked_once_and_found(api: APIClient):
    incident = IncidentFactory()
    body = {"key": "OPS-8812", "system": "Jira", "url": "https://jira.example/OPS-8812"}
    made = post(api, f"incidents/{incident.pk}/tickets", body)
    again = post(api, f"incidents/{incident.pk}/tickets", body)
    assert (made.status_code, again.status_code) == (201, 200)
    assert api.get(f"{API}/incidents/{incident.pk}").json()["tickets"] == [made.json()]
    found = api.get(f"{API}/incidents?q=ops-8812").json()["results"]
    assert [row["id"] for row in found] == [incident.pk]


def test_a_ticket_is_taken_away(api: APIClient):
    made = post(api, f"incidents/{IncidentFactory().pk}/tickets", {"key": "OPS-1"})
    assert api.delete(made["Location"]).status_code == 204
    assert api.get(made["Location"]).status_code == 404


def test_views_are_ones_own_and_shared(program: Callable[..., APIClient]):
    anna, ben = UserFactory(username="anna"), UserFactory(username="ben")
    mine = post(program(Role.RESPONDER, owner=anna), "views", {"name": "own", "query": "kind=hang"})
    bens = program(Role.RESPONDER, owner=ben)
    post(bens, "views", {"name": "all", "query": "kind=crash", "shared": True})
    assert [view["name"] for view in bens.get(f"{API}/views").json()["results"]] == ["all"]
    assert bens.get(mine["Location"]).status_code == 404
    seen = program(Role.RESPONDER, owner=anna).get(f"{API}/views").json()["results"]
    assert [view["name"] for view in seen] == ["all", "own"]


@pytest.mark.parametrize("at", ["merge", "unmerge", "split", "snooze", "tickets"])
def test_a_viewer_takes_no_step(program: Callable[..., APIClient], at: str):
    answer = post(program(Role.VIEWER), f"incidents/{IncidentFactory().pk}/{at}")
    assert answer.status_code == 403
