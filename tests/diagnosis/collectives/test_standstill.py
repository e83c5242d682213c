"""The hang rule and its localisation, on counters alone."""

from typing import Any

import pytest

from diagnosis.collectives.live import follow
from diagnosis.collectives.standstill import Motion, Standstill, StandstillRule
from diagnosis.collectives.standstill_verdict import localise_standstill
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.live_progress import LiveProgress
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.core.words import Role
from diagnosis.readers.progress_reports import read_reports
from diagnosis.simulator.progress import LiveJob
from diagnosis.simulator.scenarios import simulate

PLACEMENT = Placement.of(RankPlace(rank, f"node-{rank // 2:03d}") for rank in range(8))
Counts = dict[int, tuple[int, int]]


def reports(counts: Counts, *, comm: str = "dp", **more: Any) -> list[dict[str, Any]]:
    return [
        {"rank": rank, **more, "comms": [{"comm": comm, "enqueued": put, "completed": done}]}
        for rank, (put, done) in counts.items()
    ]


def moving(until: float = 120, phase: str = "train") -> LiveProgress:
    """Eight ranks that moved at every report until then."""
    known: LiveProgress | None = None
    for time in range(0, int(until) + 1, 30):
        told = reports(dict.fromkeys(range(8), (time, time)), phase=phase)
        known, _ = follow(known, read_reports({"time": time, "reports": told}))
    assert known is not None
    return known


def standing(told: list[dict[str, Any]], *, since: float = 150, for_s: float = 120) -> Standstill:
    """Judged once the ranks have shown the same for so long."""
    known = moving()
    time = since
    while time <= since + for_s:
        known, _ = follow(known, read_reports({"time": time, "reports": told}))
        time += 30
    return StandstillRule()(known, placement=PLACEMENT, now=since + for_s + 5)


def localised(told: list[dict[str, Any]], **more: Any) -> Conclusion:
    return localise_standstill(standing(told, **more), PLACEMENT)


ALL_AT_REST = dict.fromkeys(range(8), (200, 200))
ALL_INSIDE = dict.fromkeys(range(8), (201, 200))
ONE_MISSING = {**ALL_INSIDE, 5: (200, 200)}


def test_a_job_whose_reports_change_moves():
    found = StandstillRule()(moving(), placement=PLACEMENT, now=125)

    assert found.motion is Motion.MOVING


def test_a_rank_that_did_not_arrive_is_named_with_its_host():
    conclusion = localised(reports(ONE_MISSING))

    assert [(s.target.rank, s.target.host) for s in conclusion.suspects if s.score > 0.8] == [
        (5, "node-002")
    ]
    assert "report" not in conclusion.verdict.summary


def test_one_report_alone_is_no_standstill():
    assert standing(reports(ONE_MISSING), for_s=0).motion is not Motion.STILL


def test_everyone_inside_one_collective_is_a_stall_on_the_communication_side():
    conclusion = localised(reports(ALL_INSIDE))

    assert not [s for s in conclusion.suspects if s.role != "victim"]
    assert "communication side" in conclusion.verdict.summary


def test_everyone_at_rest_has_the_grace_of_a_checkpoint():
    assert standing(reports(ALL_AT_REST), for_s=570).motion is Motion.PAUSED
    assert standing(reports(ALL_AT_REST), for_s=690).motion is Motion.STILL


@pytest.mark.parametrize(
    ("phase", "paused_for", "still_after"), [("checkpoint", 570, 630), ("eval", 1770, 1830)]
)
def test_one_rank_in_a_graced_phase_excuses_all(phase: str, paused_for: float, still_after: float):
    told = reports(ONE_MISSING, phase="train")
    told[5]["phase"] = phase

    assert standing(told, for_s=paused_for).motion is Motion.PAUSED
    assert standing(told, for_s=still_after).motion is Motion.STILL


def test_slow_steps_that_the_job_is_used_to_are_no_hang():
    known: LiveProgress | None = None
    for time in range(0, 900, 30):
        count = time // 90
        told = reports({rank: (count, count - rank % 2) for rank in range(8)})
        known, _ = follow(known, read_reports({"time": time, "reports": told}))
        found = StandstillRule()(known, placement=PLACEMENT, now=time + 5)
        assert found.motion is not Motion.STILL, time


def test_a_rank_that_stopped_reporting_is_a_possible_cause():
    told = [report for report in reports(ALL_INSIDE) if report["rank"] != 5]

    conclusion = localised(told, for_s=300)

    first = conclusion.suspects[0]
    assert (first.target.rank, first.role) == (5, "possible")
    assert "left no report" in conclusion.verdict.summary


def test_steps_alone_tell_who_is_behind():
    told: list[dict[str, Any]] = [{"rank": rank, "step": 9 - (rank == 5)} for rank in range(8)]
    known: LiveProgress | None = None
    for time in range(0, 121, 30):
        early = [{"rank": rank, "step": time // 30} for rank in range(8)]
        known, _ = follow(known, read_reports({"time": time, "reports": early}))
    for time in range(150, 271, 30):
        known, _ = follow(known, read_reports({"time": time, "reports": told}))

    found = StandstillRule()(known, placement=PLACEMENT, now=275)

    assert localise_standstill(found, PLACEMENT).suspects[0].target.rank == 5


def test_sends_and_receives_that_each_rank_counts_alone_are_no_collective():
    counts = {0: (90, 89), 1: (180, 179), 2: (180, 180), 3: (90, 89)}
    told = reports(counts, comm="pipeline 0")
    told += reports(dict.fromkeys(range(4, 8), (180, 180)), comm="pipeline 1")

    conclusion = localised(told)

    culprits = [s.target.rank for s in conclusion.suspects if s.role == "culprit"]
    assert culprits == [2]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tells_started", [True, False])
def test_a_simulated_hang_is_named(seed: int, tells_started: bool):
    simulation = simulate("hang_compute", seed=seed, hosts=2)
    job = LiveJob.that_stops_after(simulation.run, start=1e9, seconds=240)
    job = LiveJob(job.run, job.start, job.stretch, tells_started=tells_started)
    known: LiveProgress | None = None
    time = job.start
    while time <= job.stops_at + 180:
        known, _ = follow(known, read_reports(job.body(time)))
        time += 30

    found = StandstillRule()(known, placement=simulation.placement, now=time)

    suspects = localise_standstill(found, simulation.placement).suspects
    culprits = [suspect.target.rank for suspect in suspects if suspect.role == "culprit"]
    assert culprits == list(simulation.truth.culprits)


@pytest.mark.parametrize("seed", range(20, 24))
def test_a_simulated_deadlock_by_order_names_the_rank_whose_order_differs(seed: int):
    simulation = simulate("order_deadlock", seed=seed, hosts=4)
    job = LiveJob.that_stops_after(simulation.run, start=1e9, seconds=300.0)
    known: LiveProgress | None = None
    for at in (0.0, 100.0, 200.0, 280.0, 320.0, 380.0, 440.0):
        known, _ = follow(known, read_reports(job.body(job.start + at)))
    found = StandstillRule()(known, placement=simulation.placement, now=job.start + 441)
    suspects = localise_standstill(found, simulation.placement).suspects
    accused = [suspect.target.rank for suspect in suspects if suspect.role is not Role.VICTIM]
    assert accused == list(simulation.truth.culprits)
