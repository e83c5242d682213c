"""What the reader gives of a simulated run's dumps, without writing and unpickling them.

A job of 16,384 ranks leaves two million entries; their bytes cost far more time than their
judgement. Equal to reading the files of NCCL's recorder (tests/benchmarks/test_recorded.py).
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis.core.collectives import (
    NOT_KNOWN,
    Bools,
    Counters,
    Entries,
    Group,
    Ints,
    OpState,
    RankDump,
    Signature,
    SourceFrame,
)
from diagnosis.readers.flight_recorder_plain import NEWEST_STACKS
from diagnosis.simulator.layout import Axis, Communicator
from diagnosis.simulator.run import Run
from diagnosis.simulator.schedule import Call, Program
from diagnosis.simulator.writers.frames import frames_of

Floats = NDArray[np.float64]

#: How often a watchdog looks whether operations are over (seconds).
_POLL_S = 0.1
#: From an operation's arrival on the GPU to its recorded start (seconds).
_LAUNCH_S = 4e-5


@dataclass(frozen=True)
class _Shape:
    """What all ranks with the same program and as many calls record alike."""

    axes: tuple[Axis, ...]
    axis: Ints
    seq: Ints
    p2p_seq: Ints
    is_p2p: Bools
    offset: Ints
    call: Ints
    calls: tuple[Signature, ...]
    stack: Ints
    stacks: tuple[tuple[SourceFrame, ...], ...]
    #: By axis: its rows, and the number of each among the calls of its kind.
    of_axis: tuple[tuple[list[int], list[int]], ...]


@dataclass(frozen=True)
class _Moment:
    """One rank's times (seconds since the job's start) up to its dump, in the order of calls.

    `arrived` is empty where the recorder does not time.
    """

    at: float
    start_ns: int
    phase: float
    enqueued: Floats
    arrived: Floats
    completed: Floats

    def stamp(self, seconds: Floats) -> Ints:
        return self.start_ns + np.rint(seconds * 1e9).astype(np.int64)

    def state(self) -> Ints:
        found = self._column(OpState.SCHEDULED)
        found[: len(self.arrived)] = OpState.STARTED
        found[: len(self.completed)] = OpState.COMPLETED
        return found

    def retired(self) -> Bools:
        found = np.zeros(len(self.enqueued), np.bool_)
        found[: len(self.completed)] = self._seen() <= self.at
        return found

    def started_ns(self) -> Ints:
        found = self._column(0)
        found[: len(self.arrived)] = self.stamp(np.minimum(self.at, self.arrived + _LAUNCH_S))
        return found

    def completed_ns(self) -> Ints:
        found = self._column(0)
        found[: len(self.completed)] = self.stamp(np.minimum(self.at, self._seen()))
        return found

    def duration_us(self) -> Ints:
        found = self._column(NOT_KNOWN)
        timed = min(len(self.arrived), len(self.completed))
        spans = (self.completed[:timed] - self.arrived[:timed]).tolist()
        ms = [round(span * 1e3, 4) for span in spans]
        found[:timed] = [int(one * 1000) if one > 0 else NOT_KNOWN for one in ms]
        return found

    def _seen(self) -> Floats:
        """When the watchdog sees each completion."""
        polls = ((self.completed - self.phase) / _POLL_S).astype(np.int64) + 1
        return np.asarray(self.phase + polls * _POLL_S)

    def _column(self, value: int) -> Ints:
        return np.full(len(self.enqueued), value, np.int64)


class Recorder:
    """The dumps of one run."""

    def __init__(self, run: Run) -> None:
        options = run.job.options
        longest = max(len(program.calls) for program in run.timeline.programs)
        if options.backend != "nccl" or options.only_active:
            raise ValueError("only whole dumps of NCCL's recorder are recorded in memory")
        if longest > min(options.ring, NEWEST_STACKS):
            raise ValueError("the run is longer than what a ring, or a reader of stacks, keeps")
        self._run, self._job = run, run.job
        self._shapes: dict[tuple[int, int], _Shape] = {}
        self._groups = [Group(c.name, c.description, c.ranks) for c in run.job.layout.communicators]

    def dumps(self) -> list[RankDump]:
        """One a rank that left one, in the order of their names."""
        found = [
            self._dump(rank, ending.dump_at)
            for rank, ending in enumerate(self._run.endings)
            if ending.dump_at is not None
        ]
        return sorted(found, key=lambda dump: dump.source)

    def _dump(self, rank: int, at: float) -> RankDump:
        job, moment = self._job, self._moment(rank, at)
        shape = self._shape(self._run.timeline.programs[rank], len(moment.enqueued))
        mine = [job.layout.communicator(axis, rank) for axis in shape.axes]
        ids = np.asarray([job.layout.pg_id(rank, group) for group in mine], np.int64)
        major, minor = map(int, job.options.fr_version.split("."))
        return RankDump(
            rank=rank,
            source=f"comm_lib_trace_rank_{rank}",
            version=(major, minor),
            entries=self._entries(rank, moment, shape, mine, ids),
            library=job.release.nccl if job.release.library_key else "",
            groups={group.name: self._groups[group.index] for group in mine},
            status=dict(_status(shape, ids, moment)),
        )

    def _moment(self, rank: int, at: float) -> "_Moment":
        line, job = self._run.timeline, self._job
        times = (np.asarray(t[rank]) for t in (line.enqueued, line.arrived, line.completed))
        enqueued, arrived, completed = (column[column <= at] for column in times)
        return _Moment(
            at=at,
            start_ns=job.host_ns(job.cluster.host_of(rank), 0.0),
            phase=float(job.rng("poll", rank).uniform(0, _POLL_S)),
            enqueued=enqueued,
            arrived=arrived[: len(arrived) * job.options.timing],
            completed=completed,
        )

    def _entries(
        self, rank: int, moment: "_Moment", shape: _Shape, mine: list[Communicator], ids: Ints
    ) -> Entries:
        count = len(moment.enqueued)
        place = np.asarray([bisect_left(group.ranks, rank) for group in mine], np.int64)
        timeout_ms = round(self._job.options.timeout_s * 1e3)
        return Entries(
            record_id=np.arange(count),
            group=shape.axis,
            pg_id=ids[shape.axis],
            seq=shape.seq,
            p2p_seq=shape.p2p_seq,
            call=shape.call,
            backend=np.zeros(count, np.int64),
            state=moment.state(),
            retired=moment.retired(),
            is_p2p=shape.is_p2p,
            peer=np.where(shape.is_p2p, place[shape.axis] + shape.offset, NOT_KNOWN),
            created_ns=moment.stamp(moment.enqueued),
            started_ns=moment.started_ns(),
            completed_ns=moment.completed_ns(),
            duration_us=moment.duration_us(),
            timeout_ms=np.full(count, timeout_ms),
            stack=shape.stack,
            groups=tuple((group.name, group.description) for group in mine),
            calls=shape.calls,
            backends=("nccl",),
            stacks=shape.stacks,
        )

    def _shape(self, program: Program, count: int) -> _Shape:
        key = id(program), count
        if key not in self._shapes:
            self._shapes[key] = _shape_of(program, count, stacks=self._job.options.stacks)
        return self._shapes[key]


def _shape_of(program: Program, count: int, *, stacks: bool) -> _Shape:
    made = program.calls[:count]
    axes: dict[Axis, int] = {}
    calls: dict[Signature, int] = {}
    frames: dict[tuple[SourceFrame, ...], int] = {}
    axis = [axes.setdefault(call.axis, len(axes)) for call in made]
    call = [calls.setdefault(_signature(call), len(calls)) for call in made]
    stack = [frames.setdefault(_stack(call), len(frames)) if stacks else -1 for call in made]
    counters = np.asarray(program.counters[:count], np.int64).reshape(count, 2)
    rows = [[row for row, one in enumerate(axis) if one == index] for index in range(len(axes))]
    return _Shape(
        axes=tuple(axes),
        axis=np.asarray(axis, np.int64),
        seq=counters[:, 0],
        p2p_seq=counters[:, 1],
        is_p2p=np.asarray([call.peer != 0 for call in made], np.bool_),
        offset=np.asarray([call.peer for call in made], np.int64),
        call=np.asarray(call, np.int64),
        calls=tuple(calls),
        stack=np.asarray(stack, np.int64),
        stacks=tuple(frames),
        of_axis=tuple((mine, [program.sequence(row) for row in mine]) for mine in rows),
    )


def _status(shape: _Shape, ids: Ints, moment: _Moment) -> Iterator[tuple[int, Counters]]:
    reached = [len(times) for times in (moment.enqueued, moment.arrived, moment.completed)]
    for (rows, numbers), pg_id in zip(shape.of_axis, ids.tolist(), strict=True):
        until = (bisect_left(rows, count) for count in reached)
        yield pg_id, Counters(*(numbers[end - 1] if end else NOT_KNOWN for end in until))


def _signature(call: Call) -> Signature:
    return Signature(
        op=call.op,
        input_sizes=call.input_sizes,
        output_sizes=call.output_sizes,
        input_dtypes=(call.dtype,) * len(call.input_sizes),
        output_dtypes=(call.dtype,) * len(call.output_sizes),
    )


def _stack(call: Call) -> tuple[SourceFrame, ...]:
    return tuple(SourceFrame(f["name"], f["filename"], f["line"]) for f in frames_of(call))
