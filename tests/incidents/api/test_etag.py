"""Conditional requests: nothing is sent twice, nothing unseen is overwritten."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from incidents.choices import DiagnosisState
from incidents.models import Incident
from incidents.services.run_state import show_state
from tests.factories import (
    AttemptFactory,
    DiagnosisFactory,
    HostFactory,
    IncidentFactory,
    RecommendationFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def incident() -> Incident:
    made: Incident = IncidentFactory()
    return made


def address(incident: Incident) -> str:
    return f"/api/v1/incidents/{incident.pk}"


def acknowledge(api: APIClient, incident: Incident, tag: str | None):
    headers: Any = {} if tag is None else {"HTTP_IF_MATCH": tag}
    body = {"status": "acknowledged"}
    return api.patch(address(incident), body, format="json", **headers)


@pytest.mark.parametrize("weak", ["", "W/"])
def test_a_reader_who_has_it_already_gets_304(api: APIClient, incident: Incident, weak: str):
    tag = api.get(address(incident))["ETag"]
    again = api.get(address(incident), HTTP_IF_NONE_MATCH=f'"other", {weak}{tag}')
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag)


def test_a_list_is_not_sent_twice_either(api: APIClient, incident: Incident):
    tag = api.get("/api/v1/incidents")["ETag"]
    assert api.get("/api/v1/incidents", HTTP_IF_NONE_MATCH=tag).status_code == 304


def test_a_change_changes_the_tag(api: APIClient, incident: Incident):
    before = api.get(address(incident))["ETag"]
    changed = acknowledge(api, incident, before)
    assert changed["ETag"] != before
    assert api.get(address(incident))["ETag"] == changed["ETag"]
    assert api.get(address(incident), HTTP_IF_NONE_MATCH=before).status_code == 200


def test_a_change_without_if_match_is_refused_with_428(api: APIClient, incident: Incident):
    assert acknowledge(api, incident, None).status_code == 428


@pytest.mark.parametrize("tag", ['"nonsense"', "nonsense", '"99999999999999-a"', '"0-x"'])
def test_a_tag_of_another_state_is_refused_with_412(api: APIClient, incident: Incident, tag: str):
    assert acknowledge(api, incident, tag).status_code == 412


def test_the_second_of_two_is_told_and_nothing_is_overwritten(api: APIClient, incident: Incident):
    seen = api.get(address(incident))["ETag"]
    assert acknowledge(api, incident, seen).status_code == 200
    body = {"status": "resolved", "resolution": "false-alarm"}
    late = api.patch(address(incident), body, format="json", HTTP_IF_MATCH=seen)
    assert (late.status_code, late.json()["type"]) == (412, "/api/v1/problems/stale-version")
    incident.refresh_from_db()
    assert incident.status == "acknowledged"


@pytest.mark.parametrize("tag", ["*", '"7-x", "1-anything"'])
def test_a_star_or_a_list_with_the_present_version_is_taken(
    api: APIClient, incident: Incident, tag: str
):
    assert acknowledge(api, incident, tag).status_code == 200


def test_a_diagnosis_that_starts_in_between_does_not_refuse_a_person(
    api: APIClient, incident: Incident
):
    seen = api.get(address(incident))["ETag"]
    show_state(DiagnosisFactory(incident=incident), DiagnosisState.RUNNING)
    assert api.get(address(incident))["ETag"] != seen
    assert acknowledge(api, incident, seen).status_code == 200


@pytest.mark.parametrize(
    ("made", "place", "body"),
    [
        (HostFactory, "hosts", {"state": "isolated"}),
        (AttemptFactory, "attempts", {"outcome": "failed"}),
    ],
)
def test_records_without_a_version_are_guarded_by_their_content(
    api: APIClient, made: type, place: str, body: dict[str, str]
):
    at = f"/api/v1/{place}/{made().pk}"
    seen = api.get(at)["ETag"]
    assert api.patch(at, body, format="json").status_code == 428
    assert api.patch(at, body, format="json", HTTP_IF_MATCH=seen).status_code == 200
    assert api.patch(at, body, format="json", HTTP_IF_MATCH=seen).status_code == 412


def test_an_outcome_is_guarded_as_well(api: APIClient):
    asked = RecommendationFactory()
    decided = api.post(
        f"/api/v1/recommendations/{asked.pk}/decisions", {"kind": "accept"}, format="json"
    )
    at, body = decided["Location"], {"outcome": "recovered"}
    assert api.patch(at, body, format="json", HTTP_IF_MATCH=decided["ETag"]).status_code == 200
    assert api.patch(at, body, format="json", HTTP_IF_MATCH=decided["ETag"]).status_code == 412


def test_the_placement_is_guarded_where_someone_asks_for_it(api: APIClient):
    at = f"/api/v1/attempts/{AttemptFactory().pk}/placement"
    rows = [{"rank": 0, "host": "node-0"}]
    seen = api.get(at)["ETag"]
    assert api.put(at, rows, format="json").status_code == 200
    assert api.put(at, rows, format="json", HTTP_IF_MATCH=seen).status_code == 412


def test_the_second_to_decide_is_told_where_they_ask_for_it(api: APIClient):
    at = f"/api/v1/recommendations/{RecommendationFactory().pk}"
    seen = api.get(at)["ETag"]
    sent = [
        api.post(f"{at}/decisions", {"kind": "accept"}, format="json", HTTP_IF_MATCH=seen)
        for _ in range(2)
    ]
    assert [answer.status_code for answer in sent] == [201, 412]
