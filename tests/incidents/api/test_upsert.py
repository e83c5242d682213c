"""Incidents by the caller's own id."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from incidents.choices import Role
from incidents.models import Event, Incident
from tests.factories import IncidentFactory

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/incidents/by-external/servicenow/INC0010042"


def put(api: APIClient, **given: Any) -> Any:
    headers: dict[str, Any] = {
        name: given.pop(name) for name in list(given) if name.startswith("HTTP_")
    }
    return api.put(ADDRESS, given, format="json", **headers)


def test_the_first_call_opens_and_the_next_brings_up_to_date(api: APIClient):
    first = put(api, title="it hangs", hosts=["node-017"])
    again = put(api, title="it hangs since 06:20", severity="high")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    shown = api.get(ADDRESS).json()
    assert (shown["title"], shown["severity"]) == ("it hangs since 06:20", "high")
    assert (shown["hosts"], shown["source"]) == (["node-017"], "servicenow")


def test_hosts_of_a_later_call_are_added_and_none_is_taken_away(api: APIClient):
    put(api, title="it hangs", hosts=["node-017"])
    again = put(api, title="it hangs", hosts=["NODE-018.local", "node-019"]).json()
    assert sorted(again["hosts"]) == ["NODE-018.local", "node-017", "node-019"]
    assert again["version"] == 2
    assert put(api, title="it hangs", hosts=["node-018"]).json()["version"] == 2
    (event,) = Event.objects.filter(verb="incident.corrected")
    assert event.text == "Added node-018, node-019"


def test_another_cluster_is_refused_at_its_place(api: APIClient):
    put(api, title="it hangs", cluster="north")
    refused = put(api, title="other", cluster="south", hosts=["node-1"])
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (409, "#/cluster")
    assert put(api, title="it hangs", cluster="north").json()["version"] == 1


def test_hosts_and_corrections_go_along_with_one_seen_state(api: APIClient):
    tag = put(api, title="t")["ETag"]
    changed = put(api, title="better", hosts=["node-1"], HTTP_IF_MATCH=tag)
    assert (changed.status_code, changed.json()["hosts"]) == (200, ["node-1"])


def test_what_is_not_given_stays(api: APIClient):
    put(api, title="it hangs", severity="critical", kind="hang")
    shown = put(api, title="it hangs").json()
    assert (shown["severity"], shown["kind"]) == ("critical", "hang")


def test_the_same_call_again_changes_nothing(api: APIClient):
    put(api, title="it hangs")
    assert put(api, title="it hangs").json()["version"] == 1


def test_a_status_goes_along(api: APIClient):
    put(api, title="it hangs")
    closed = put(api, title="it hangs", status="resolved", resolution="other")
    assert closed.json()["status"] == "resolved"
    assert put(api, title="it hangs", status="triggered").json()["status"] == "triggered"


def test_a_resolution_needs_its_status(api: APIClient):
    answer = put(api, title="t", resolution="other")
    assert answer.json()["errors"][0]["pointer"] == "#/resolution"


def test_it_can_be_made_only_where_it_is_new(api: APIClient):
    assert put(api, title="t", HTTP_IF_NONE_MATCH="*").status_code == 201
    assert put(api, title="t", HTTP_IF_NONE_MATCH="*").status_code == 412


def test_a_state_that_was_not_seen_is_not_overwritten(api: APIClient):
    tag = put(api, title="t")["ETag"]
    put(api, title="changed meanwhile")
    assert put(api, title="mine", HTTP_IF_MATCH=tag).status_code == 412


def test_an_id_that_nobody_gave_is_not_there(api: APIClient):
    assert api.get(ADDRESS).status_code == 404


def test_the_id_of_a_merged_incident_leads_to_where_it_went(api: APIClient):
    one = Incident.objects.get(pk=put(api, title="t").json()["id"])
    one.merged_into = IncidentFactory(cluster=one.cluster)
    one.save()
    assert api.get(ADDRESS).json()["id"] == one.merged_into.pk


def test_a_viewer_writes_nothing(program: Callable[..., APIClient]):
    assert put(program(Role.VIEWER), title="t").status_code == 403
