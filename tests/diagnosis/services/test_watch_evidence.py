"""Operation traces and timed collectives that were handed in, beside what the watch sees."""

import io
import json

import pytest

from diagnosis.core.placement import Placement, RankPlace
from diagnosis.models import MetricSource
from diagnosis.simulator.fleet_paper import PaperTruth, paper_case
from incidents.choices import IncidentKind, SuspectRole
from incidents.models import Incident, Suspect
from incidents.services.evidence import attach_evidence
from incidents.services.opening import open_incident
from tests.diagnosis.fleet_source import FleetSource
from tests.diagnosis.watched import ROBOT, Watched, running_attempt

pytestmark = pytest.mark.django_db

START, SLOW_AT = 1_780_000_000.0, 1_780_000_900.0


def handed_in(watched: Watched, name: str, content: str) -> None:
    """Someone noticed the slow job before the watch, and hands in a file."""
    incident, _ = open_incident(
        actor=ROBOT,
        title="slow",
        kind=IncidentKind.DEGRADATION,
        source="scheduler",
        attempt=watched.attempt,
    )
    attach_evidence(actor=ROBOT, incident=incident, name=name, stream=io.BytesIO(content.encode()))


def suspects() -> list[Suspect]:
    newest = Incident.objects.get().diagnoses.first()
    assert newest is not None
    return list(newest.suspects.all())


def operations(slow: tuple[int, int] | None) -> str:
    rows = ["dp_rank,stage,rank,step,optype,duration,mb_id"]
    rows += [
        f"{dp},{stage},{dp * 4 + stage},{step},{kind},{1.9 if (dp, stage) == slow else 1.0},{batch}"
        for dp in range(4)
        for stage in range(4)
        for step in range(2)
        for kind in ("forward-compute", "backward-compute")
        for batch in range(8)
    ]
    return "\n".join([*rows, ""])


def timed_collectives(slow: int, ranks: int) -> str:
    """The slow rank is inside collectives for a fifth of its peers' time."""
    return "".join(
        json.dumps(
            {
                "time": SLOW_AT + call, "comm": "dp", "rank": rank, "cl": call,
                "op": {"name": "all_reduce", "seq": call},
                "td_us": 200 if rank == slow else 1000,
            }
        ) + "\n"
        for rank in range(ranks)
        for call in range(6)
    )  # fmt: skip


@pytest.fixture
def slow_job(db: None) -> Watched:
    """A job of 16 ranks without a metric source, whose steps take 30 % longer from a moment on."""
    places = (RankPlace(rank, f"node-{rank // 4:03d}", gpu=rank % 4) for rank in range(16))
    watched = Watched(running_attempt(Placement.of(places), start=START))

    def body(now: float) -> object:
        step = (min(now, SLOW_AT) - START) / 4 + max(0.0, now - SLOW_AT) / 5.2
        reports = [{"rank": rank, "step": int(step), "phase": "train"} for rank in range(16)]
        return {"time": now, "reports": reports}

    watched.body, watched.every = body, 60.0
    return watched


@pytest.fixture
def slow_host(db: None) -> tuple[Watched, PaperTruth]:
    """The published case: one link loses packets, its host leaves its peers in the metrics."""
    window, truth, placement = paper_case(6, hosts=8, samples=300, onset=120, recovery=170)
    MetricSource.objects.create(name="prometheus", url="http://metrics.invalid")
    attempt = running_attempt(placement, start=float(window.time[0]) - 300)
    return Watched(attempt, ask=FleetSource(window, nic=truth.nic)), truth


def test_a_slow_worker_of_a_trace_is_named_where_no_metric_names_anyone(slow_job: Watched):
    handed_in(slow_job, "operations.csv", operations(slow=(2, 1)))

    slow_job.run(START, SLOW_AT + 480, beat=120)

    first = suspects()[0]
    assert (first.target_host, first.target_gpu, first.role) == (
        "node-002",
        "1",
        SuspectRole.CULPRIT,
    )
    summary = Incident.objects.get().diagnoses.all()[0].summary
    assert "computes longer" in summary
    assert "iterations take" in summary.lower()


def test_the_rank_that_arrives_last_by_its_counters_is_named(slow_job: Watched):
    handed_in(slow_job, "counters.jsonl", timed_collectives(slow=6, ranks=16))

    slow_job.run(START, SLOW_AT + 480, beat=120)

    assert (suspects()[0].target_host, suspects()[0].target_rank) == ("node-001", 6)


def test_a_trace_of_equal_workers_names_nobody(slow_job: Watched):
    handed_in(slow_job, "operations.csv", operations(slow=None))

    slow_job.run(START, SLOW_AT + 480, beat=120)

    assert suspects() == []


def test_counters_that_agree_speak_for_the_host_of_the_metrics(
    slow_host: tuple[Watched, PaperTruth],
):
    watched, truth = slow_host
    places = watched.attempt.placements
    rank = places.filter(host__name=truth.host).values_list("rank", flat=True)[0]
    handed_in(watched, "counters.jsonl", timed_collectives(slow=rank, ranks=places.count()))

    watched.run(truth.onset - 180, truth.onset + 300, beat=60)

    first = suspects()[0]
    detectors = {finding.detector for finding in first.findings.all()}
    assert (first.target_host, first.target_rank) == (truth.host, rank)
    assert {"peer-shift", "collectives.slow-ranks"} <= detectors
