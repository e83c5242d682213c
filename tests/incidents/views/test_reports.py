"""The reports page and its downloads."""

import csv
import io
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from incidents.choices import DecisionKind
from incidents.models import Incident
from incidents.services.decisions import decide
from incidents.services.pace import note_pace
from tests.factories import (
    AttemptFactory,
    ClusterFactory,
    DiagnosisFactory,
    FindingFactory,
    IncidentFactory,
    JobFactory,
    RecommendationFactory,
    SuspectFactory,
    actor,
)

PAGE = "incidents:reports"


def decided(*, fault: str = "xid-79", **incident: object) -> Incident:
    """An incident whose suspect was accepted for the cause."""
    found: Incident = IncidentFactory(**incident)
    run = DiagnosisFactory(done=True, incident=found)
    suspect = SuspectFactory(diagnosis=run, position=1, fault=fault)
    suspect.findings.add(FindingFactory(diagnosis=run))
    advice = RecommendationFactory(diagnosis=run)
    decide(actor=actor(), recommendation=advice, kind=DecisionKind.ACCEPT)
    return found


def table(client: Client, name: str, **query: str) -> list[dict[str, str]]:
    address = reverse("incidents:report-table", kwargs={"table": name})
    answer = client.get(address, query)
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_an_empty_site_has_a_report_that_says_so(viewer: Client) -> None:
    answer = viewer.get(reverse(PAGE))

    assert "Nothing was decided in this time" in answer.content.decode()


def test_a_rule_is_shown_with_how_often_it_was_right(viewer: Client) -> None:
    decided()

    rows = table(viewer, "rules")

    assert {row["code"]: (row["right"], row["decided"]) for row in rows} == {
        "xid-79": ("1", "1"),
        "signature": ("1", "1"),
    }


def test_the_report_of_one_cluster_leaves_the_others_out(viewer: Client) -> None:
    north = ClusterFactory(name="north")
    decided(cluster=north)
    decided(fault="nic-down")

    assert [row["fault"] for row in table(viewer, "faults", cluster="north")] == ["xid-79"]


def test_the_report_of_one_owner_leaves_the_others_out(viewer: Client) -> None:
    decided(job=JobFactory(owner="vision"))
    decided(fault="nic-down")

    assert [row["fault"] for row in table(viewer, "faults", owner="vision")] == ["xid-79"]


def test_restarts_are_attempts_after_the_first(viewer: Client) -> None:
    job = JobFactory()
    for number in (1, 2, 3):
        AttemptFactory(job=job, number=number)

    steps = table(viewer, "over-time")

    assert sum(int(step["restarts"]) for step in steps) == 2


def test_degradation_comes_from_the_pace_that_was_seen(viewer: Client) -> None:
    at = timezone.now().timestamp() - 60
    note_pace(attempt=AttemptFactory(), times=[at, at], seconds=[1.0, 2.0], counts=[30, 10])

    last = table(viewer, "over-time")[-1]

    assert float(last["degradation"]) == pytest.approx(10 * (2 - 1.2 * 50 / 40) / 50)


def test_an_incident_before_the_period_is_left_out(viewer: Client) -> None:
    IncidentFactory(opened_at=timezone.now() - timedelta(days=100))

    steps = table(viewer, "over-time")

    assert sum(int(step["incidents"]) for step in steps) == 0


def test_a_period_that_ends_before_it_begins_is_told(viewer: Client) -> None:
    answer = viewer.get(reverse(PAGE), {"since": "2026-03-02", "until": "2026-03-01"})

    assert answer.status_code == 422
    assert "ends before it begins" in answer.content.decode()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"since": "2099-01-01"}, "ends before it begins"),
        ({"since": "9999-12-31"}, "Reports end with"),
        ({"until": "9999-12-31"}, "Reports end with"),
        ({"since": "0001-01-01", "until": "0001-01-09"}, "Reports begin with"),
    ],
)
def test_a_period_far_from_now_is_told_of(asked: dict[str, str], told: str, viewer: Client) -> None:
    answer = viewer.get(reverse(PAGE), asked)

    assert (answer.status_code, told in answer.content.decode()) == (422, True)


def test_a_download_of_such_a_period_is_refused_in_words(viewer: Client) -> None:
    address = reverse("incidents:report-table", kwargs={"table": "faults"})

    answer = viewer.get(address, {"since": "no day"})

    assert (answer.status_code, answer["Content-Type"]) == (422, "text/plain")


def test_a_table_that_does_not_exist_is_not_found(viewer: Client) -> None:
    assert viewer.get("/reports/nothing.csv").status_code == 404


def test_a_fault_that_a_spreadsheet_would_compute_is_text(viewer: Client) -> None:
    decided(fault="=1+1")

    assert table(viewer, "faults")[0]["fault"] == "'=1+1"


def test_the_page_needs_as_many_queries_for_many_incidents_as_for_one(viewer: Client) -> None:
    decided()
    with CaptureQueriesContext(connection) as few:
        viewer.get(reverse(PAGE))
    for _ in range(5):
        decided()
    with CaptureQueriesContext(connection) as many:
        viewer.get(reverse(PAGE))

    assert len(many) == len(few) < 20


def test_a_suspect_tells_how_often_its_rule_was_right(viewer: Client) -> None:
    decided()
    run = DiagnosisFactory(done=True)
    SuspectFactory(diagnosis=run, position=1, fault="xid-79")

    page = viewer.get(reverse("incidents:incident", args=[run.incident.pk])).content.decode()

    assert "This rule was right in 1 of 1 other decided incident" in page


def test_the_decision_on_an_incident_is_no_record_beside_its_own_suspect(viewer: Client) -> None:
    incident = decided(fault="xid-79")

    page = viewer.get(reverse("incidents:incident", args=[incident.pk])).content.decode()

    assert "How often these rules were right: no other decided incident yet" in page


def test_a_period_by_from_and_to_is_taken_or_told_of(viewer: Client) -> None:
    address = reverse("incidents:reports")

    turned = viewer.get(f"{address}?from=2026-12-31&to=2026-01-01")
    asked = viewer.get(f"{address}?from=2026-01-01&to=2026-01-31")

    assert turned.status_code == 422
    assert "ends before it begins" in turned.content.decode()
    assert str(asked.context["period"].since.date()) == "2026-01-01"
