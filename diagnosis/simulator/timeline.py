"""Ranks walking through their programs, with rendezvous: an operation ends when all are there.

Each rank has a host thread that enqueues calls, up to `run_ahead` beyond the last completed one
and never past a call that it waits for, and one in-order queue on the GPU. A call arrives when the
GPU reaches it; it completes, on all members together, when the last member has arrived and all
members made the same call. Ranks are sequential and the rendezvous is deterministic, so the result
does not depend on the order of evaluation. The steps before anything goes wrong are computed for
all ranks at once (`lockstep`); from there on the cost is one visit per rank and call.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from diagnosis.simulator.layout import Layout
from diagnosis.simulator.lockstep import Lockstep, Times, steps_in_step
from diagnosis.simulator.schedule import Call, Program

_NEVER = 1 << 60


@dataclass(frozen=True, slots=True)
class Disturbances:
    """What goes wrong, per rank, each from the rank's call with that index on.

    `host_stops`: the host thread never enqueues the call. `gpu_stops`: the GPU never reaches it.
    `network_stops`: no operation that leaves the host completes any more. `slow`: the GPU's own
    work takes `factor` times as long.
    """

    host_stops: Mapping[int, int] = field(default_factory=dict)
    gpu_stops: Mapping[int, int] = field(default_factory=dict)
    network_stops: Mapping[int, int] = field(default_factory=dict)
    slow: Mapping[int, tuple[int, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Timeline:
    """Seconds since the job's start, per rank and call.

    `enqueued[r]` and `arrived[r]` are as long as the calls that the rank enqueued, or that its GPU
    reached; `completed[r]` holds those that ended. `programs[r]` is what the rank ran.
    """

    programs: Sequence[Program]
    enqueued: Sequence["array[float]"]
    arrived: Sequence["array[float]"]
    completed: Sequence["array[float]"]

    def finished(self, rank: int) -> bool:
        return len(self.completed[rank]) == len(self.programs[rank].calls)

    def stopped_at(self, rank: int) -> float:
        """When a rank that went no further was last seen to move."""
        moves = (*self.enqueued[rank][-1:], *self.completed[rank][-1:])
        return max(moves, default=0.0)

    def first_open(self, rank: int) -> int | None:
        """The index of the oldest call that the rank enqueued and that never completed."""
        done = len(self.completed[rank])
        return done if done < len(self.enqueued[rank]) else None


@dataclass(slots=True)
class _Meeting:
    """An operation for which not all members have arrived."""

    call: Call
    latest: float
    ranks: list[int]
    broken: bool = False


class _Walk:
    """The state of one simulation."""

    def __init__(
        self,
        layout: Layout,
        programs: Sequence[Program],
        disturbances: Disturbances,
        *,
        spans_hosts: Sequence[bool],
        run_ahead: int,
        pace: NDArray[np.float32],
    ) -> None:
        self.layout, self.programs, self.run_ahead = layout, programs, run_ahead
        self.what, self.spans_hosts, self.pace = disturbances, spans_hosts, pace
        world = layout.world
        self.sizes = [len(communicator.ranks) for communicator in layout.communicators]
        self.enqueued = [array("d") for _ in range(world)]
        self.arrived = [array("d") for _ in range(world)]
        self.completed = [array("d") for _ in range(world)]
        self.meetings: dict[tuple[int, int, int], _Meeting] = {}

    def go_on_from(self, stages: Sequence[Times]) -> None:
        """Begin where all ranks have completed these calls of their stages."""
        for columns, read in (
            (self.enqueued, attrgetter("enqueued")),
            (self.arrived, attrgetter("arrived")),
            (self.completed, attrgetter("completed")),
        ):
            rows = (row for times in stages for row in read(times).reshape(len(read(times)), -1).T)
            for column, row in zip(columns, rows, strict=True):
                column.frombytes(row.tobytes())

    def run(self) -> Timeline:
        ready = list(range(self.layout.world))
        while ready:
            ready.extend(self._visit(ready.pop()))
        for rank in range(self.layout.world):
            self._run_ahead(rank)
        return Timeline(self.programs, self.enqueued, self.arrived, self.completed)

    def _visit(self, rank: int) -> Sequence[int]:
        """Take the rank to its next call; the ranks that may go on because of it."""
        index = len(self.completed[rank])
        if index >= len(self.programs[rank].calls) or not self._enqueue(rank, index):
            return ()
        if self.what.gpu_stops.get(rank, _NEVER) <= index:
            return ()
        call = self.programs[rank].calls[index]
        before = self.completed[rank][-1] if index else 0.0
        work = call.compute_ms * float(self.pace[rank, index % self.pace.shape[1]])
        since, factor = self.what.slow.get(rank, (_NEVER, 1.0))
        if index >= since:
            work *= factor
        arrival = max(self.enqueued[rank][index], before) + work / 1e3
        self.arrived[rank].append(arrival)
        return self._meet(rank, index, call, arrival)

    def _meet(self, rank: int, index: int, call: Call, arrival: float) -> Sequence[int]:
        program = self.programs[rank]
        communicator = self.layout.by_axis[call.axis][rank]
        if call.peer:
            group = self.layout.communicators[communicator].ranks
            other = group[group.index(rank) + call.peer]
            source, sink = (rank, other) if call.op == "send" else (other, rank)
            key, size = (source, sink, -program.pairing[index]), 2
        else:
            key, size = (communicator, 0, program.counters[index][0]), self.sizes[communicator]
        meeting = self.meetings.get(key)
        if meeting is None:
            meeting = self.meetings[key] = _Meeting(call, arrival, [rank])
        else:
            meeting.latest = max(meeting.latest, arrival)
            meeting.ranks.append(rank)
            if call is not meeting.call and not call.peer:
                meeting.broken |= call.signature != meeting.call.signature
        if self.what.network_stops.get(rank, _NEVER) <= index and self.spans_hosts[communicator]:
            meeting.broken = True
        if len(meeting.ranks) < size or meeting.broken:
            return ()
        del self.meetings[key]
        end = meeting.latest + call.wire_ms / 1e3
        for member in meeting.ranks:
            self.completed[member].append(end)
        return meeting.ranks

    def _enqueue(self, rank: int, index: int) -> bool:
        """Let the host enqueue up to this call; False where it never does."""
        enqueued = self.enqueued[rank]
        while len(enqueued) <= index:
            if not self._enqueue_next(rank):
                return False
        return True

    def _enqueue_next(self, rank: int) -> bool:
        enqueued, completed = self.enqueued[rank], self.completed[rank]
        index, calls = len(enqueued), self.programs[rank].calls
        if index >= len(calls) or self.what.host_stops.get(rank, _NEVER) <= index:
            return False
        at = enqueued[-1] if index else 0.0
        if index >= self.run_ahead:
            if index - self.run_ahead >= len(completed):
                return False
            at = max(at, completed[index - self.run_ahead])
        if index and calls[index - 1].sync:
            if index - 1 >= len(completed):
                return False
            at = max(at, completed[index - 1])
        enqueued.append(at + calls[index].host_ms / 1e3)
        return True

    def _run_ahead(self, rank: int) -> None:
        """What the host of a rank that waits, or whose GPU stopped, still enqueues."""
        while self._enqueue_next(rank):
            pass


def walk(
    layout: Layout,
    programs: Sequence[Program],
    disturbances: Disturbances,
    *,
    spans_hosts: Sequence[bool],
    run_ahead: int,
    rng: np.random.Generator,
) -> Timeline:
    """Simulate the job. `programs` and `spans_hosts` are per rank and per communicator."""
    longest = max(len(program.calls) for program in programs)
    speed = 1 + 0.01 * rng.standard_normal((layout.world, 1), dtype=np.float32)
    noise = 1 + 0.04 * rng.standard_normal((layout.world, longest), dtype=np.float32)
    pace = np.clip(speed * noise, 0.5, 2.0).astype(np.float32)
    walking = _Walk(
        layout, programs, disturbances, spans_hosts=spans_hosts, run_ahead=run_ahead, pace=pace
    )
    what = disturbances
    held = (what.host_stops, what.gpu_stops, what.network_stops)
    if steps := steps_in_step(layout, programs, held):
        start = Lockstep(
            layout, programs, steps=steps, slow=what.slow, run_ahead=run_ahead, pace=pace
        )
        walking.go_on_from(start.times())
    return walking.run()
