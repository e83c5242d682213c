"""What storing an answer leaves behind."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from incidents.choices import IncidentKind, ParseStatus
from incidents.exceptions import LeaseLost
from incidents.models import Diagnosis, Event, Finding
from incidents.services import diagnoses
from incidents.services.results import (
    DiagnosisResult,
    FindingData,
    ReadingData,
    RecommendationData,
    SuspectData,
    TargetData,
)
from tests.factories import (
    AttemptFactory,
    DiagnosisFactory,
    EvidenceFactory,
    IncidentFactory,
    RankPlacementFactory,
)

pytestmark = pytest.mark.django_db

CULPRIT = TargetData(kind="gpu", name="GPU 3", host="node-017", gpu="3", rank=131)
PEER = TargetData(kind="link", name="node-1/mlx5_0", host="node-1", peer="tor-1/Ethernet12")
RESULT = DiagnosisResult(
    kind="crash",
    verdict_class="critical",
    summary="node-017 GPU 3: uncorrectable ECC",
    confidence=0.93,
    engine_version="0.1.0",
    taxonomy_version="abc",
    coverage={"ranks": "8 of 8"},
    findings=[
        FindingData(
            detector="signature", target=CULPRIT, text="Xid 95", time="2025-03-01T06:20:07+02:00"
        ),
        FindingData(detector="peer", target=PEER, text="retries", time="06:20:07", weight=-0.5),
    ],
    suspects=[
        SuspectData(target=CULPRIT, score=0.93, role="culprit", fault="xid-95", findings=[0, 1, 0]),
        SuspectData(target=PEER, score=0.1, role="possible", findings=[1]),
    ],
    recommendations=[
        RecommendationData(action="isolate-host", target=CULPRIT, reason="ECC"),
        RecommendationData(action="restart-job", target=TargetData(kind="job"), reason="ECC"),
    ],
    trace=["rung 1: critical on node-017"],
    skipped=[{"file": "x", "reason": "empty"}],
)


def store(run: Diagnosis, result: DiagnosisResult = RESULT) -> Diagnosis:
    return diagnoses.store_result(pk=run.pk, owner="worker", result=result)


def test_the_run_is_done_with_its_verdict_and_free():
    run = store(DiagnosisFactory(running=True))
    assert (run.state, run.lease_owner, run.summary) == ("done", "", RESULT.summary)
    assert (run.coverage, run.trace, run.skipped) == (
        RESULT.coverage,
        RESULT.trace,
        RESULT.skipped,
    )
    assert run.duration_s is not None


def slow(share: float | None) -> DiagnosisResult:
    coverage = {} if share is None else {"lost_share": share}
    return replace(RESULT, kind="degradation", verdict_class="degradation", coverage=coverage)


def test_a_slow_job_loses_the_share_that_the_newest_answer_to_tell_it_tells():
    attempt = AttemptFactory()
    RankPlacementFactory.create_batch(10, attempt=attempt)
    incident = IncidentFactory(attempt=attempt, job=attempt.job, gpu_count=10)

    store(DiagnosisFactory(incident=incident, running=True), slow(None))
    incident.refresh_from_db()
    assert (incident.gpu_count, incident.loss_is_unknown) == (0, True)

    store(DiagnosisFactory(incident=incident, running=True), slow(0.21))
    store(DiagnosisFactory(incident=incident, running=True), slow(None))
    incident.refresh_from_db()
    assert (incident.gpu_count, incident.loss_is_unknown) == (2, False)

    store(DiagnosisFactory(incident=incident, running=True), replace(RESULT, kind="hang"))
    incident.refresh_from_db()
    assert incident.gpu_count == 10


def test_suspects_keep_their_order_their_target_and_share_findings():
    run = store(DiagnosisFactory(running=True))
    first, second = run.suspects.all()
    assert first.target == {
        "kind": "gpu",
        "name": "GPU 3",
        "host": "node-017",
        "gpu": 3,
        "nic": None,
        "rank": 131,
    }
    assert second.target["peer"] == "tor-1/Ethernet12"
    assert [one.text for one in first.findings.all()] == ["Xid 95", "retries"]
    assert first.findings.last() == second.findings.get()


def test_an_instant_is_kept_only_where_the_zone_is_known_and_the_text_always():
    run = store(DiagnosisFactory(running=True))
    zoned, bare = run.findings.all()
    assert zoned.at == datetime(2025, 3, 1, 4, 20, 7, tzinfo=UTC)
    assert zoned.time_text == "2025-03-01T06:20:07+02:00"
    assert (bare.at, bare.time_text, bare.speaks_against) == (None, "06:20:07", True)


@pytest.mark.parametrize("time", [1e18, float("nan"), "2025-99-99T00:00:00Z", "x" * 200])
def test_a_time_that_is_none_is_kept_as_text(time):
    result = replace(RESULT, findings=[replace(RESULT.findings[0], time=time)], suspects=[])
    run = store(DiagnosisFactory(running=True), result)
    assert run.findings.get().at is None


def test_the_incident_shows_the_answer():
    run = store(DiagnosisFactory(running=True, incident__kind=IncidentKind.HANG))
    incident = run.incident
    incident.refresh_from_db()
    assert (incident.kind, incident.verdict_class, incident.diagnosis_state) == (
        "crash",
        "critical",
        "done",
    )
    assert (incident.suspect_name, incident.suspect_score) == ("node-017 GPU 3 rank 131", 0.93)


def test_an_answer_changes_no_version_that_people_compare():
    run = store(DiagnosisFactory(running=True))
    run.incident.refresh_from_db()
    assert run.incident.version == 1


def test_an_older_run_that_ends_late_does_not_overwrite_the_newer_answer():
    incident = IncidentFactory()
    old, new = (DiagnosisFactory(running=True, incident=incident, number=n) for n in (1, 2))
    store(new, replace(RESULT, summary="newer"))
    store(old, replace(RESULT, summary="older"))
    incident.refresh_from_db()
    assert incident.verdict_summary == "newer"


def test_a_run_done_twice_is_stored_once():
    run = DiagnosisFactory(running=True)
    store(run)
    with pytest.raises(LeaseLost):
        store(run)
    assert Finding.objects.filter(diagnosis=run).count() == 2
    assert Event.objects.filter(incident=run.incident, verb="diagnosis.done").count() == 1


def test_a_worker_that_was_taken_over_stores_nothing():
    run = DiagnosisFactory(running=True, lease_owner="another")
    with pytest.raises(LeaseLost):
        store(run)
    run.refresh_from_db()
    assert (run.state, run.findings.count()) == ("running", 0)


def test_what_reading_told_is_noted_on_the_evidence():
    run = DiagnosisFactory(running=True)
    read, spoilt = (EvidenceFactory(incident=run.incident) for _ in range(2))
    readings = [
        ReadingData(evidence_id=read.pk, status=ParseStatus.PARSED, kind="log"),
        ReadingData(evidence_id=spoilt.pk, status=ParseStatus.SKIPPED, reason="cut off"),
    ]
    done = store(run, replace(RESULT, readings=readings))
    for one in (read, spoilt):
        one.refresh_from_db()
    assert (read.parse_status, read.kind) == ("parsed", "log")
    assert (spoilt.parse_status, spoilt.parse_reason) == ("skipped", "cut off")
    assert set(done.evidence.all()) == {read, spoilt}


def test_evidence_of_another_incident_is_not_touched():
    foreign = EvidenceFactory()
    readings = [ReadingData(evidence_id=foreign.pk, status=ParseStatus.PARSED)]
    store(DiagnosisFactory(running=True), replace(RESULT, readings=readings))
    foreign.refresh_from_db()
    assert foreign.parse_status == ParseStatus.PENDING


SIGN = datetime(2025, 3, 1, 4, 20, 7, tzinfo=UTC)


def test_an_incident_began_at_the_first_sign_of_its_culprit():
    later = replace(RESULT.findings[0], time="2025-03-01T06:30:00+02:00")
    against = replace(RESULT.findings[0], time="2025-03-01T03:00:00Z", weight=-1)
    culprit = replace(RESULT.suspects[0], findings=[0, 1, 2])
    result = replace(RESULT, findings=[later, RESULT.findings[0], against], suspects=[culprit])
    run = store(DiagnosisFactory(running=True), result)
    run.incident.refresh_from_db()
    assert run.incident.onset_at == SIGN


def test_what_an_answer_told_of_the_beginning_the_next_one_sets_anew():
    incident = IncidentFactory()
    early = replace(RESULT.findings[0], time="2021-03-01T00:00:00Z")
    culprit = replace(RESULT.suspects[0], findings=[0])
    first = replace(RESULT, findings=[early], suspects=[culprit])
    store(DiagnosisFactory(running=True, incident=incident), first)
    incident.refresh_from_db()
    assert incident.began_at.year == 2021
    store(DiagnosisFactory(running=True, incident=incident))
    incident.refresh_from_db()
    assert incident.onset_at == SIGN
    store(DiagnosisFactory(running=True, incident=incident), replace(RESULT, suspects=[]))
    incident.refresh_from_db()
    assert incident.began_at == incident.opened_at


def test_what_the_opener_said_of_the_beginning_stands():
    said = datetime(2025, 3, 1, tzinfo=UTC)
    run = store(DiagnosisFactory(running=True, incident__onset_at=said))
    run.incident.refresh_from_db()
    assert run.incident.onset_at == said


@pytest.mark.parametrize(
    "given", [{"role": "possible"}, {"role": "victim"}, {"findings": [1]}], ids=str
)
def test_without_a_sign_against_a_culprit_the_beginning_stays_unknown(given):
    run = store(
        DiagnosisFactory(running=True),
        replace(RESULT, suspects=[replace(RESULT.suspects[0], **given)]),
    )
    run.incident.refresh_from_db()
    assert run.incident.onset_at is None


def test_a_sign_from_a_clock_that_runs_ahead_is_no_beginning():
    ahead = replace(RESULT.findings[0], time="2999-01-01T00:00:00Z")
    run = store(
        DiagnosisFactory(running=True),
        replace(RESULT, findings=[ahead], suspects=[replace(RESULT.suspects[0], findings=[0])]),
    )
    run.incident.refresh_from_db()
    assert run.incident.onset_at is None


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({}, ["node-017"]),
        ({"role": "possible", "score": 0.6}, ["node-017"]),
        ({"role": "possible", "score": 0.08}, []),
        ({"role": "victim"}, []),
        ({"target": TargetData(kind="storage", name="/data", host="node-017")}, []),
        ({"target": TargetData(kind="rank", rank=3)}, []),
    ],
    ids=str,
)
def test_the_hosts_that_an_answer_accuses_belong_to_the_incident(given, names: list[str]):
    suspects = [replace(RESULT.suspects[0], **given), RESULT.suspects[1]]
    run = store(DiagnosisFactory(running=True), replace(RESULT, suspects=suspects))
    assert [host.name for host in run.incident.hosts.all()] == names
