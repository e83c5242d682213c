"""Pages by cursor, and how many queries a list takes."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from incidents.choices import DecisionKind
from incidents.models import Suspect
from incidents.services.decisions import decide
from tests.factories import (
    AttemptFactory,
    ClusterFactory,
    EvidenceFactory,
    FindingFactory,
    HostFactory,
    IncidentFactory,
    JobFactory,
    RecommendationFactory,
    SuspectFactory,
    actor,
)

pytestmark = pytest.mark.django_db


def walked(api: APIClient, start: str) -> Iterator[dict[str, Any]]:
    address: str | None = start
    while address:
        page = api.get(address).json()
        yield page
        address = page["next"]


def test_pages_hold_every_record_once_newest_first(api: APIClient):
    made = [incident.pk for incident in IncidentFactory.create_batch(7)]
    pages = list(walked(api, "/api/v1/incidents?limit=3"))
    assert [len(page["results"]) for page in pages] == [3, 3, 1]
    assert [row["id"] for page in pages for row in page["results"]] == made[::-1]


def test_what_arrives_while_reading_moves_nothing(api: APIClient):
    made = [incident.pk for incident in IncidentFactory.create_batch(5)]
    seen = []
    for page in walked(api, "/api/v1/incidents?limit=2"):
        seen += [row["id"] for row in page["results"]]
        IncidentFactory()
    assert seen == made[::-1]


def test_previous_leads_back(api: APIClient):
    IncidentFactory.create_batch(4)
    first = api.get("/api/v1/incidents?limit=2").json()
    second = api.get(first["next"]).json()
    assert api.get(second["previous"]).json()["results"] == first["results"]


def test_filters_stay_on_the_next_pages(api: APIClient):
    IncidentFactory.create_batch(3, kind="hang")
    IncidentFactory.create_batch(3, kind="crash")
    rows = [
        row
        for page in walked(api, "/api/v1/incidents?kind=hang&limit=2")
        for row in page["results"]
    ]
    assert [row["kind"] for row in rows] == ["hang"] * 3


def incident_in_full() -> None:
    attempt = AttemptFactory()
    incident = IncidentFactory(attempt=attempt, job=attempt.job, cluster=attempt.job.cluster)
    incident.hosts.add(*HostFactory.create_batch(3))


def suspect_with_proof() -> Suspect:
    suspect: Suspect = SuspectFactory()
    suspect.findings.add(*FindingFactory.create_batch(3, diagnosis=suspect.diagnosis))
    return suspect


def decided() -> None:
    decide(actor=actor(), recommendation=RecommendationFactory(), kind=DecisionKind.ACCEPT)


@pytest.mark.parametrize(
    ("place", "make"),
    [
        ("incidents", incident_in_full),
        ("jobs", JobFactory),
        ("hosts", HostFactory),
        ("clusters", ClusterFactory),
        ("suspects", suspect_with_proof),
        ("recommendations", decided),
        ("decisions", decided),
        ("events", decided),
        ("tokens", lambda: None),
    ],
)
def test_a_list_takes_as_many_queries_for_many_rows_as_for_one(
    api: APIClient, place: str, make: Callable[[], Any]
):
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert api.get(f"/api/v1/{place}").status_code == 200
        return len(captured)

    make()
    queries()
    for_one = queries()
    for _ in range(5):
        make()
    assert queries() == for_one


def test_the_files_of_an_incident_take_as_many_queries_however_many(
    api: APIClient, django_assert_num_queries: Any
):
    incident = IncidentFactory()
    EvidenceFactory.create_batch(8, incident=incident)
    api.get("/api/v1/me")
    with django_assert_num_queries(4):
        assert len(api.get(f"/api/v1/incidents/{incident.pk}/evidence").json()["results"]) == 8
