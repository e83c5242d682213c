"""The watch and a job's metrics, from a source without a network."""

from typing import Any

import pytest

from diagnosis.models import MetricSource, WatchVerdict
from diagnosis.simulator.fleet_paper import PaperTruth, paper_case
from diagnosis.sources.errors import SourceError, SourceFailure
from incidents.choices import IncidentKind, IncidentStatus
from incidents.models import Incident
from tests.diagnosis.fleet_source import FleetSource
from tests.diagnosis.watched import Watched, running_attempt

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(db: None) -> tuple[Watched, PaperTruth]:
    window, truth, placement = paper_case(6, hosts=8, samples=300, onset=120, recovery=170)
    MetricSource.objects.create(name="prometheus", url="http://metrics.invalid")
    attempt = running_attempt(placement, start=float(window.time[0]) - 300)
    return Watched(attempt, ask=FleetSource(window, nic=truth.nic)), truth


def down(*args: Any, **kwargs: Any) -> Any:
    raise SourceError("it is down", failure=SourceFailure.UNREACHABLE, permanent=False)


def hung_ranks(watch: Watched, *, since: float) -> Any:
    """Reports of a job that moves until then, and of which rank 5 does not arrive afterwards."""
    ranks = watch.attempt.placements.count()

    def body(now: float) -> object:
        count = int(min(now, since))
        ahead = int(now >= since)
        return {
            "time": now,
            "reports": [
                {
                    "rank": rank,
                    "phase": "train",
                    "comms": [
                        {"comm": "dp", "enqueued": count + ahead * (rank != 5), "completed": count}
                    ],
                }
                for rank in range(ranks)
            ],
        }

    return body


def test_a_healthy_job_is_well_and_opens_nothing(case: tuple[Watched, PaperTruth]):
    watch, truth = case

    assert watch.run(truth.onset - 900, truth.onset - 60, beat=60) is None
    assert watch.watch.verdict == WatchVerdict.HEALTHY


def test_a_look_that_comes_late_covers_those_that_fell_out_and_says_so(
    case: tuple[Watched, PaperTruth],
):
    watch, truth = case
    watch.run(truth.onset - 900, truth.onset - 780, beat=60)
    looks = watch.watch.judgements

    watch.run(truth.onset - 300, truth.onset - 290)

    assert watch.watch.judgements == looks + 1
    assert any("the workers are behind" in note for note in watch.watch.coverage["notes"])


def test_a_source_that_falls_silent_closes_nothing(case: tuple[Watched, PaperTruth]):
    watch, truth = case
    watch.run(truth.onset - 180, truth.onset + 300, beat=60)
    watch.ask = down

    watch.run(truth.onset + 360, truth.recovery + 900, beat=60)

    assert Incident.objects.get().status == IncidentStatus.TRIGGERED
    assert "it is down" in watch.watch.error


def test_a_slow_job_that_stops_stays_one_incident_and_becomes_a_hang(
    case: tuple[Watched, PaperTruth],
):
    watch, truth = case
    watch.body = hung_ranks(watch, since=truth.onset + 300)
    watch.every = 60
    watch.run(truth.onset - 180, truth.onset + 240, beat=60)
    first = Incident.objects.get()
    assert first.kind == IncidentKind.DEGRADATION

    watch.run(truth.onset + 300, truth.onset + 540, beat=60)

    incident = Incident.objects.get()
    assert incident.kind == IncidentKind.HANG
    suspects = incident.diagnoses.all()[0].suspects.all()
    assert suspects[0].target_rank == 5
    assert truth.host in {suspect.target_host for suspect in suspects}


def test_trouble_that_passed_while_no_worker_ran_opens_nothing(case: tuple[Watched, PaperTruth]):
    watch, truth = case
    watch.run(truth.onset - 180, truth.onset - 60, beat=60)

    assert watch.run(truth.recovery + 700, truth.recovery + 820, beat=60) is None
    assert watch.watch.verdict == WatchVerdict.HEALTHY


def test_a_job_without_a_source_is_seen_to_slow_down_by_its_steps():
    _, truth, placement = paper_case(6, hosts=8)
    start = truth.onset - 2400
    watch = Watched(running_attempt(placement, start=start))

    def body(now: float) -> object:
        step = (min(now, truth.onset) - start) / 4 + max(0.0, now - truth.onset) / 5.2
        reports = [{"rank": rank, "step": int(step), "phase": "train"} for rank in range(64)]
        return {"time": now, "reports": reports}

    watch.body = body
    opened = watch.run(start, truth.onset + 600, beat=30)

    incident = Incident.objects.get()
    assert opened is not None
    assert incident.kind == IncidentKind.DEGRADATION
    assert watch.watch.cause["signature"]["slower"] == pytest.approx(0.3, rel=0.1)
    assert incident.suspect_name == ""
