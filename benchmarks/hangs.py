"""How well jobs that stop are seen and located from progress reports alone, on simulated hangs."""

from collections.abc import Iterator
from dataclasses import dataclass

from diagnosis.collectives.live import follow
from diagnosis.collectives.standstill import Motion, StandstillRule
from diagnosis.collectives.standstill_verdict import localise_standstill
from diagnosis.core.live_progress import LiveProgress
from diagnosis.core.words import Role
from diagnosis.readers.progress_reports import read_reports
from diagnosis.simulator.progress import LiveJob, Pause
from diagnosis.simulator.scenarios import simulate

SCENARIOS = ("hang_compute", "gpu_fallen_off_bus", "ib_link_down", "order_deadlock")
#: Seconds between two reports, and between two looks.
EVERY = 30.0
WITHIN = 180.0


@dataclass
class HangScore:
    """One scenario: jobs, those seen to stand still in time, named first, and the slowest (s)."""

    jobs: int = 0
    seen: int = 0
    first: int = 0
    slowest: float = 0.0
    false_alarms: int = 0


def hangs(*, seeds: int, hosts: int) -> Iterator[tuple[str, HangScore]]:
    """One score per scenario, and one for jobs that only write a checkpoint of nine minutes."""
    for scenario in SCENARIOS:
        yield scenario, _score(scenario, seeds, hosts, pause=None)
    yield "9 min checkpoint", _score("hang_compute", seeds, hosts, pause=Pause(150.0, 540.0))


def _score(scenario: str, seeds: int, hosts: int, *, pause: Pause | None) -> HangScore:
    score = HangScore()
    for seed in range(1000, 1000 + seeds):
        simulation = simulate(scenario, seed=seed, hosts=hosts)
        pauses = [pause] if pause else []
        job = LiveJob.that_stops_after(simulation.run, start=1e9, seconds=300.0, pauses=pauses)
        score.jobs += 1
        known: LiveProgress | None = None
        time = job.start
        while time <= job.stops_at + WITHIN:
            known, _ = follow(known, read_reports(job.body(time)))
            found = StandstillRule()(known, placement=simulation.placement, now=time + 1)
            if found.motion is Motion.STILL:
                break
            time += EVERY
        else:
            continue
        if time < job.stops_at:
            score.false_alarms += 1
            continue
        score.seen += 1
        score.slowest = max(score.slowest, time - job.stops_at)
        suspects = localise_standstill(found, simulation.placement).suspects
        accused = [item.target.rank for item in suspects if item.role is not Role.VICTIM]
        score.first += bool(accused) and accused[0] in simulation.truth.culprits
    return score
