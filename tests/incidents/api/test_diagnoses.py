"""Diagnoses in the contract's shape, suspects, recommendations, decisions, the feed."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.conf import settings
from rest_framework.test import APIClient

from incidents.models import Diagnosis, Event, Recommendation
from incidents.services import diagnoses
from incidents.services.results import (
    DiagnosisResult,
    FindingData,
    RecommendationData,
    SuspectData,
    TargetData,
)
from tests.factories import (
    DiagnosisFactory,
    EvidenceFactory,
    IncidentFactory,
    RecommendationFactory,
)

pytestmark = pytest.mark.django_db
SCHEMA = json.loads(Path(settings.BASE_DIR, "docs/diagnosis.schema.json").read_text())
HOST = TargetData(kind="host", name="node-017", host="node-017", gpu="3", rank=131)
LINK = TargetData(kind="link", name="node-1/mlx5_0", host="node-1", peer="tor-1/Ethernet12")


@pytest.fixture
def done() -> Diagnosis:
    """A finished run with two suspects, findings with and without time, one recommendation."""
    run = DiagnosisFactory(running=True)
    file = EvidenceFactory(incident=run.incident)
    result = DiagnosisResult(
        kind="crash",
        verdict_class="critical",
        summary="node-017 GPU 3: uncorrectable ECC",
        confidence=0.93,
        engine_version="0.1.0",
        taxonomy_version="abc",
        coverage={"ranks": "8 of 8"},
        findings=[
            FindingData(
                detector="signature",
                target=HOST,
                text="Xid 95",
                evidence=file.name,
                evidence_id=file.pk,
                locator={"line": 7},
                time="2026-11-30T07:20:07+01:00",
            ),
            FindingData(detector="peer", target=LINK, text="retries", time="06:20", weight=-0.5),
            FindingData(detector="peer", target=LINK, text="retries again"),
        ],
        suspects=[
            SuspectData(target=HOST, score=0.93, role="culprit", fault="xid-95", findings=[0]),
            SuspectData(target=LINK, score=0.1, role="possible", findings=[1, 2]),
        ],
        recommendations=[RecommendationData(action="isolate-host", target=HOST, reason="ECC")],
        trace=["rung 1: critical on node-017"],
        skipped=[{"file": "core.bin", "reason": "binary"}],
    )
    return diagnoses.store_result(pk=run.pk, owner="worker", result=result)


def shown(api: APIClient, run: Diagnosis) -> dict[str, Any]:
    answer: dict[str, Any] = api.get(f"/api/v1/diagnoses/{run.pk}").json()
    return answer


def test_a_finished_run_is_the_contracts_object(api: APIClient, done: Diagnosis):
    jsonschema.validate(shown(api, done), SCHEMA)


def test_the_verdict_says_class_and_how_sure_it_is(api: APIClient, done: Diagnosis):
    assert shown(api, done)["verdict"] == {
        "kind": "crash",
        "class": "critical",
        "summary": "node-017 GPU 3: uncorrectable ECC",
        "confidence": 0.93,
        "coverage": {"ranks": "8 of 8"},
    }


def test_a_finding_leads_back_to_its_file_and_line(api: APIClient, done: Diagnosis):
    (finding,) = shown(api, done)["suspects"][0]["findings"]
    file = api.get(f"/api/v1/evidence/{finding['evidence_id']}").json()
    assert (finding["evidence"], finding["locator"]) == (file["name"], {"line": 7})
    assert finding["time"] == "2026-11-30T06:20:07Z"


def test_a_time_without_a_zone_stays_as_the_evidence_gave_it(api: APIClient, done: Diagnosis):
    times = [finding["time"] for finding in shown(api, done)["suspects"][1]["findings"]]
    assert times == ["06:20", None]


def test_a_recommendation_carries_the_command_as_text(api: APIClient, done: Diagnosis):
    (item,) = shown(api, done)["recommendations"]
    assert set(item["commands"]) == {"slurm", "kubernetes"}
    assert f"INC-{done.incident_id}" in item["commands"]["slurm"]
    assert item["decision"] is None


def test_a_waiting_run_has_no_verdict_yet(api: APIClient):
    told = shown(api, DiagnosisFactory())
    assert (told["state"], told["verdict"], told["suspects"]) == ("queued", None, [])


def test_a_failed_run_says_why(api: APIClient):
    told = shown(api, DiagnosisFactory(state="failed", error="The engine stopped"))
    assert (told["state"], told["error"]) == ("failed", "The engine stopped")


def test_asking_again_makes_a_new_run_beside_the_old_one(api: APIClient, done: Diagnosis):
    at = f"/api/v1/incidents/{done.incident_id}/diagnoses"
    asked = api.post(at, format="json")
    assert (asked.status_code, asked.json()["state"]) == (202, "queued")
    assert api.get(asked["Location"]).json()["id"] == asked.json()["id"]
    numbers = [run["number"] for run in api.get(at).json()["results"]]
    assert numbers == [asked.json()["number"], done.number]


def test_asking_twice_asks_once(api: APIClient):
    at = f"/api/v1/incidents/{IncidentFactory().pk}/diagnoses"
    assert api.post(at, format="json").json()["id"] == api.post(at, format="json").json()["id"]


def test_the_incident_repeats_the_newest_answer(api: APIClient, done: Diagnosis):
    told = api.get(f"/api/v1/incidents/{done.incident_id}").json()["diagnosis"]
    assert (told["state"], told["class"], told["suspect_score"]) == ("done", "critical", 0.93)


@pytest.mark.parametrize(
    ("query", "found"),
    [("role=culprit", 1), ("fault=xid-95", 1), ("host=node-1", 1), ("", 2), ("diagnosis=0", 0)],
)
def test_suspects_are_found_over_all_runs(api: APIClient, done: Diagnosis, query: str, found: int):
    rows = api.get(f"/api/v1/suspects?{query}").json()["results"]
    assert len(rows) == found
    assert {row["incident"] for row in rows} <= {done.incident_id}


@pytest.mark.parametrize(
    ("query", "found"), [("decided=false", 1), ("decided=true", 0), ("action=watch", 0)]
)
def test_recommendations_are_found_over_all_runs(
    api: APIClient, done: Diagnosis, query: str, found: int
):
    assert len(api.get(f"/api/v1/recommendations?{query}").json()["results"]) == found


def decide(api: APIClient, asked: Recommendation, **body: str) -> Any:
    return api.post(f"/api/v1/recommendations/{asked.pk}/decisions", body, format="json")


def test_accepting_gives_the_command_and_is_in_the_timeline(api: APIClient):
    asked = RecommendationFactory()
    made = decide(api, asked, kind="accept")
    assert made.status_code == 201
    assert api.get(made["Location"]).json() == made.json()
    assert made.json()["commands"]["kubernetes"] == "kubectl cordon -- node-001"
    assert Event.objects.get(verb="recommendation.accepted").incident == asked.diagnosis.incident


def test_a_change_names_what_to_do_instead(api: APIClient):
    made = decide(
        api,
        RecommendationFactory(),
        kind="change",
        changed_action="isolate-host",
        changed_target="node-002",
        reason="the log was copied from there",
    ).json()
    assert (made["changed_action"], made["changed_target"]) == ("isolate-host", "node-002")
    assert "node-002" in made["commands"]["slurm"]


def test_the_newest_decision_stands(api: APIClient):
    asked = RecommendationFactory()
    decide(api, asked, kind="accept")
    decide(api, asked, kind="reject", reason="it recovered by itself")
    made = api.get(f"/api/v1/recommendations/{asked.pk}/decisions").json()["results"]
    assert [(one["kind"], one["standing"]) for one in made] == [("reject", True), ("accept", False)]
    assert api.get(f"/api/v1/recommendations/{asked.pk}").json()["decision"] == "reject"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#/kind"),
        ({"kind": "reject"}, "#/reason"),
        ({"kind": "reject", "reason": "  "}, "#/reason"),
        ({"kind": "change", "reason": "x"}, "#/changed_action"),
        ({"kind": "accept", "changed_action": "watch"}, "#/changed_action"),
        ({"kind": "accept", "changed_target": "node-002"}, "#/changed_target"),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused_by_field(
    api: APIClient, body: dict[str, str], pointer: str
):
    answer = decide(api, RecommendationFactory(), **body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize(
    "body",
    [{"kind": "accept"}, {"kind": "change", "reason": "x", "changed_action": "isolate-host"}],
)
def test_an_isolation_that_names_no_host_is_refused(api: APIClient, body: dict[str, str]):
    answer = decide(api, RecommendationFactory(target_host=""), **body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "#/changed_target"


def test_a_decision_is_taken_back_once(api: APIClient):
    made = decide(api, RecommendationFactory(), kind="accept").json()
    told = api.post(f"/api/v1/decisions/{made['id']}/undo").json()
    assert (told["standing"], told["undone_by"] != "") == (False, True)
    assert told["undone_at"].endswith("Z")
    assert api.post(f"/api/v1/decisions/{made['id']}/undo").status_code == 409


def test_an_outcome_closes_the_loop(api: APIClient):
    made = decide(api, RecommendationFactory(), kind="accept")
    body = {"outcome": "part-bad", "outcome_note": "RMA 4411"}
    told = api.patch(made["Location"], body, format="json", HTTP_IF_MATCH=made["ETag"]).json()
    assert (told["outcome"], told["outcome_note"]) == ("part-bad", "RMA 4411")
    assert told["outcome_at"].endswith("Z")
