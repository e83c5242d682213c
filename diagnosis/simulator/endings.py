"""How each rank's process ends once the job stands still: watchdog, launcher, and the dumps.

The first collective to exceed its timeout makes its rank dump and signal all others through the
store; those dump too. A process that exits takes the others on its host with it where torchrun
watches them. (PyTorch ProcessGroupNCCL.cpp: HeartbeatMonitor, checkTimeout; elastic agent.)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.timeline import Timeline

#: A rank whose own timeout comes this late after the first one is taken down before it (seconds).
_TEARDOWN_S = 8.0
#: How long torchrun takes to notice a dead worker and end the others (seconds).
_MONITOR_S = 1.5
_ABORTED, _TERMINATED = -6, -15


class Fate(StrEnum):
    """What became of a rank's process."""

    FINISHED = "finished"
    RUNNING = "running"
    EXITED = "exited"
    TERMINATED = "terminated"
    FROZEN = "frozen"
    TIMED_OUT = "timed-out"
    SIGNALLED = "signalled"
    REMOTE_ERROR = "remote-error"


@dataclass(frozen=True, slots=True)
class Ending:
    """`at` is when it happened, `dump_at` when the dump was written (seconds since the start)."""

    fate: Fate
    at: float
    dump_at: float | None = None
    exit_code: int | None = None


def endings(job: Job, injection: Injection, timeline: Timeline) -> tuple[Ending, ...]:
    """One ending per rank."""
    if injection.requests_dumps:
        found = _asked(job, injection, timeline)
    else:
        found = _broken(job, injection, timeline)
    return _without_missing(job, injection, found)


def _asked(job: Job, injection: Injection, timeline: Timeline) -> list[Ending]:
    finish = max((times[-1] for times in timeline.completed if times), default=0.0)
    at = finish + 2.0 if injection.dumps_at >= 1 else injection.dumps_at * finish
    jitter = job.rng("dump-jitter").uniform(0.0, job.options.dump_jitter_s, job.world)
    fate = Fate.FINISHED if at > finish else Fate.RUNNING
    return [Ending(fate, at, at + float(delay)) for delay in jitter]


def _broken(job: Job, injection: Injection, timeline: Timeline) -> list[Ending]:
    gone = _gone(job, injection, timeline)
    onset = min((timeline.stopped_at(rank) for rank in injection.sources), default=0.0)
    own: dict[int, tuple[float, Fate]] = {}
    for rank in range(job.world):
        if rank in gone:
            continue
        if rank in injection.remote_errors:
            own[rank] = (onset + injection.remote_errors[rank], Fate.REMOTE_ERROR)
        elif (index := timeline.first_open(rank)) is not None:
            due = timeline.enqueued[rank][index] + job.options.timeout_s
            own[rank] = (due, Fate.TIMED_OUT)
    first = min((at for at, _ in own.values()), default=onset + job.options.timeout_s)
    rng = job.rng("endings")
    spread = rng.uniform(0.02, 0.9, job.world)
    jitter = rng.uniform(0.0, job.options.dump_jitter_s, job.world)
    found: list[Ending] = []
    for rank in range(job.world):
        if rank in gone:
            found.append(gone[rank])
            continue
        due, fate = own.get(rank, (first + _TEARDOWN_S, Fate.SIGNALLED))
        if due > first + _TEARDOWN_S * 0.9:
            due, fate = first + float(spread[rank]), Fate.SIGNALLED
        dump = max(first, min(due, first + float(spread[rank]))) + float(jitter[rank])
        found.append(Ending(fate, due, dump, _ABORTED))
    return found


def _gone(job: Job, injection: Injection, timeline: Timeline) -> dict[int, Ending]:
    """Processes that ended or froze by themselves, and those that their launcher ended for it."""
    gone = {
        rank: Ending(Fate.EXITED, timeline.stopped_at(rank) + injection.exit_delay, exit_code=code)
        for rank, code in injection.exits.items()
    }
    if job.options.launcher == "torchrun":
        _end_siblings(job, gone)
    for rank in injection.frozen:
        gone[rank] = Ending(Fate.FROZEN, timeline.stopped_at(rank), exit_code=-9)
    return gone


def _end_siblings(job: Job, gone: dict[int, Ending]) -> None:
    for rank, ending in sorted(gone.items()):
        for sibling in job.cluster.ranks_of(job.cluster.host_of(rank)):
            gone.setdefault(
                sibling, Ending(Fate.TERMINATED, ending.at + _MONITOR_S, exit_code=_TERMINATED)
            )


def _without_missing(job: Job, injection: Injection, found: Sequence[Ending]) -> tuple[Ending, ...]:
    """Take away the dumps of ranks that leave none, and of a share chosen by the seed.

    The share spares culprits: without their dumps a hang would have no answer in the evidence.
    """
    draw = job.rng("missing-dumps").random(job.world)
    lost = {rank for rank in range(job.world) if draw[rank] < job.options.missing_dumps}
    lost = (lost - set(injection.culprits)) | injection.no_dump
    return tuple(
        replace(ending, dump_at=None) if rank in lost else ending
        for rank, ending in enumerate(found)
    )
