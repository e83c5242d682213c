"""The incident's page: the answer and its proof."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from incidents.models import Diagnosis, Incident, User
from incidents.services.reckoning import reckon
from tests.factories import (
    DiagnosisFactory,
    EvidenceFactory,
    FindingFactory,
    IncidentFactory,
    JobFactory,
    RecommendationFactory,
    SuspectFactory,
)

HTMX = {"HX-Request": "true"}


def answer(incident: Incident | None = None, **given) -> Diagnosis:
    run: Diagnosis = DiagnosisFactory(incident=incident or IncidentFactory(), done=True, **given)
    return run


def shown(client: Client, run: Diagnosis, query: str = "") -> str:
    response = client.get(f"/incidents/{run.incident_id}{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_the_answer_is_the_headline(responder: Client):
    run = answer(summary="node-017 GPU 3 fell off the bus")
    assert "<h1>node-017 GPU 3 fell off the bus</h1>" in shown(responder, run)


def test_coverage_is_told_in_words(responder: Client):
    coverage = {
        "ranks": {"expected": 1024, "reported": 1019},
        "hosts_without_logs": ["node-009"],
        "notes": ["transport cannot be judged"],
    }
    page = shown(responder, answer(coverage=coverage))
    for words in ("1,019 of 1,024 ranks", "node-009", "transport cannot be judged"):
        assert words in page


def test_findings_for_and_against_a_suspect_are_told_apart(responder: Client):
    run = answer()
    suspect = SuspectFactory(diagnosis=run)
    suspect.findings.add(
        FindingFactory(diagnosis=run, text="Xid 79"),
        FindingFactory(diagnosis=run, text="cool as its peers", weight=-1),
    )
    accused = responder.get(f"/incidents/{run.incident_id}").context["proof"].suspects[0]
    assert [one.finding.text for one in accused.speaks_for] == ["Xid 79"]
    assert [one.finding.text for one in accused.speaks_against] == ["cool as its peers"]


def test_a_finding_leads_to_its_line(responder: Client):
    run = answer()
    evidence = EvidenceFactory(incident=run.incident, name="node-001.dmesg.log")
    finding = FindingFactory(diagnosis=run, evidence=evidence, locator={"line": 4812})
    SuspectFactory(diagnosis=run).findings.add(finding)
    assert f"/evidence/{evidence.pk}/excerpt?line=4812" in shown(responder, run)


def test_two_findings_side_by_side_open_one_excerpt(responder: Client):
    run = answer()
    evidence = EvidenceFactory(incident=run.incident)
    suspect = SuspectFactory(diagnosis=run, position=1)
    for line in (61, 62, 200):
        suspect.findings.add(
            FindingFactory(diagnosis=run, evidence=evidence, locator={"line": line})
        )
    proof = responder.get(f"/incidents/{run.incident_id}").context["proof"]
    assert [one.opened for one in proof.suspects[0].speaks_for] == [True, False, True]


def test_victims_are_folded_away(responder: Client):
    run = answer()
    SuspectFactory(diagnosis=run, role="victim", score=0, target_host="node-020")
    proof = responder.get(f"/incidents/{run.incident_id}").context["proof"]
    assert (len(proof.suspects), len(proof.victims)) == (0, 1)


@pytest.mark.parametrize(
    ("source", "commands"),
    [
        ("slurm", ["scontrol"]),
        ("kubernetes", ["kubectl"]),
        ("other", ["scontrol", "kubectl"]),
    ],
)
def test_an_isolation_shows_the_command_of_the_jobs_scheduler(
    source: str, commands: list[str], responder: Client
):
    job = JobFactory(source=source)
    run = answer(IncidentFactory(job=job, cluster=job.cluster))
    RecommendationFactory(diagnosis=run)
    page = shown(responder, run)
    assert [name for name in ("scontrol", "kubectl") if f"<code>{name}" in page] == commands


def test_what_could_not_be_read_is_named_with_its_reason(responder: Client):
    run = answer(skipped=[{"file": "dump_4", "reason": "breaks off after 9 bytes"}])
    page = shown(responder, run)
    assert "dump_4" in page
    assert "breaks off after 9 bytes" in page


def test_a_similar_incident_is_named_with_how_it_ended(responder: Client):
    now = timezone.now()
    other = IncidentFactory(status="resolved", resolution="part-isolated", resolved_at=now)
    run = answer()
    for one in (answer(other), run):
        SuspectFactory(diagnosis=one, position=1, fault="xid-79")
        reckon(one.incident)
    assert f'<a href="/incidents/{other.pk}">{other.reference}</a>, part isolated' in shown(
        responder, run
    )


def test_an_earlier_answer_can_be_looked_at(responder: Client):
    first = answer(summary="first thought", number=1)
    answer(first.incident, summary="second thought", number=2)
    page = shown(responder, first, "?diagnosis=1")
    assert "<h1>first thought</h1>" in page
    assert "not the newest answer" in page


@pytest.mark.parametrize("number", ["7", "x"])
def test_a_diagnosis_that_is_not_there_is_not_found(number: str, responder: Client):
    incident = IncidentFactory()
    assert responder.get(f"/incidents/{incident.pk}?diagnosis={number}").status_code == 404


@pytest.mark.parametrize(("trait", "asks"), [("running", True), ("done", False)])
def test_the_page_asks_again_only_while_a_run_is_under_way(
    trait: str, asks: bool, responder: Client
):
    run = DiagnosisFactory(**{trait: True})
    assert ('id="pulse"' in shown(responder, run)) is asks


def test_the_page_is_new_when_the_run_has_ended(responder: Client):
    run = DiagnosisFactory(running=True)
    address = f"/incidents/{run.incident_id}"
    first = responder.get(address, headers=HTMX)
    unchanged = {**HTMX, "If-None-Match": first["ETag"]}
    assert responder.get(address, headers=unchanged).status_code == 304
    Diagnosis.objects.filter(pk=run.pk).update(state="failed", error="no", lease_owner="")
    assert responder.get(address, headers=unchanged).status_code == 200


def test_a_failed_run_says_what_to_do(responder: Client):
    run = DiagnosisFactory(state="failed", error="The engine stopped")
    page = shown(responder, run)
    assert "The engine stopped" in page
    assert "Run it again" in page


def test_files_handed_in_together_are_one_entry_of_the_timeline(responder: Client, anna: User):
    incident = IncidentFactory()
    files = [SimpleUploadedFile(f"rank-{rank}.log", b"%d" % rank) for rank in range(3)]
    responder.post(f"/incidents/{incident.pk}/evidence", {"files": files})
    entries = responder.get(f"/incidents/{incident.pk}").context["entries"]
    assert [one.text for one in entries if one.verb == "evidence.attached"] == ["3 files handed in"]


def test_queries_do_not_grow_with_suspects_and_findings(responder: Client):
    run = answer()
    counts = []
    for _ in range(2):
        for _ in range(10):
            suspect = SuspectFactory(diagnosis=run)
            suspect.findings.add(FindingFactory(diagnosis=run, evidence=EvidenceFactory()))
            RecommendationFactory(diagnosis=run)
        with CaptureQueriesContext(connection) as asked:
            shown(responder, run)
        counts.append(len(asked))
    assert counts[1] <= counts[0] <= 30


def test_a_viewer_sees_the_answer_and_no_buttons(viewer: Client):
    run = answer(summary="node-001 broke")
    RecommendationFactory(diagnosis=run)
    page = shown(viewer, run)
    assert "node-001 broke" in page
    for words in ("Accept", "Reject, because", "Acknowledge", "Add note", "Drop files"):
        assert words not in page


def test_the_page_names_who_opened_the_incident(responder: Client, anna: User):
    responder.post("/incidents/new", {"title": "It hangs", "kind": "hang"})
    page = responder.get(f"/incidents/{Incident.objects.get().pk}").content.decode()
    assert "UTC</time> by anna</dd>" in page


def test_a_second_try_after_a_lost_worker_is_told(responder: Client):
    run = DiagnosisFactory(attempts=1)
    page = shown(responder, run)
    assert "a worker was lost in the middle, tried again" in page
    assert "1 worker lost in the middle" in page
