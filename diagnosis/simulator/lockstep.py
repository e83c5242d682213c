"""The steps before anything goes wrong, for all ranks of a stage at once.

Until its first disturbance a job is in step: all ranks of a stage make the same calls, and every
operation ends. Times are then arrays over (data-parallel replica, tensor rank), and a rendezvous
is a maximum over one of the axes. The same sums in the same order as `timeline.walk`, so that the
times are equal to the last bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis.simulator.layout import Axis, Layout
from diagnosis.simulator.schedule import Call, Program

Floats = NDArray[np.float64]
#: The axis of (replica, tensor rank) over which the members of a communicator lie in one stage.
_WITHIN: Mapping[Axis, int | None] = {Axis.DATA: 0, Axis.TENSOR: 1, Axis.STAGE: None}


@dataclass(frozen=True, slots=True)
class Times:
    """One stage's first calls: seconds since the job's start, of shape (calls, dp, tp)."""

    enqueued: Floats
    arrived: Floats
    completed: Floats


def steps_in_step(
    layout: Layout, programs: Sequence[Program], disturbed: Sequence[Mapping[int, int]]
) -> int:
    """How many of the first steps all ranks make alike, with nothing that stops them.

    `disturbed` tells from which call on a rank is held up; a rank whose calls differ from those of
    its stage's first unchanged rank counts from the first that does.
    """
    usual = [_usual(layout, programs, stage) for stage in range(layout.pp)]
    steps = min(len(program.starts) for program in usual)
    for held in disturbed:
        for rank, index in held.items():
            steps = min(steps, programs[rank].step_of(index))
    for rank, program in enumerate(programs):
        if program is not (base := usual[layout.place(rank).stage]):
            steps = min(steps, base.step_of(_first_difference(base, program)))
    return max(steps, 0)


def _usual(layout: Layout, programs: Sequence[Program], stage: int) -> Program:
    """The program that most of the stage's ranks share."""
    span = layout.tp * layout.dp
    mine = programs[stage * span : (stage + 1) * span]
    seen: dict[int, int] = {}
    for program in mine:
        seen[id(program)] = seen.get(id(program), 0) + 1
    most = max(seen, key=lambda key: seen[key])
    return next(program for program in mine if id(program) == most)


def _first_difference(base: Program, other: Program) -> int:
    pairs = zip(base.calls, other.calls, strict=False)
    shorter = min(len(base.calls), len(other.calls))
    return next((n for n, (mine, theirs) in enumerate(pairs) if mine is not theirs), shorter)


class Lockstep:
    """Walks all stages through their first `steps` steps."""

    def __init__(
        self,
        layout: Layout,
        programs: Sequence[Program],
        *,
        steps: int,
        slow: Mapping[int, tuple[int, float]],
        run_ahead: int,
        pace: NDArray[np.float32],
    ) -> None:
        self._layout, self._run_ahead, self._slow = layout, run_ahead, slow
        self._shape = (layout.dp, layout.tp)
        span = layout.dp * layout.tp
        self._programs = [_usual(layout, programs, stage) for stage in range(layout.pp)]
        self._ends = [program.stop_of(steps - 1) if steps else 0 for program in self._programs]
        self._pace = [pace[at : at + span] for at in range(0, layout.world, span)]
        self._times = [
            Times(*(np.empty((end, *self._shape)) for _ in range(3))) for end in self._ends
        ]
        self._done = [0] * layout.pp

    def times(self) -> Sequence[Times]:
        """One a stage. Raises `ValueError` where the stages' calls do not fit together."""
        while self._done != self._ends:
            before = list(self._done)
            for stage in range(self._layout.pp):
                while self._done[stage] < self._ends[stage] and self._meet(stage):
                    pass
            if before == self._done:
                raise ValueError("the stages wait for one another before any fault")
        return self._times

    def _meet(self, stage: int) -> bool:
        """Complete the stage's next call, with the stages that take part in it, if all can."""
        call = self._programs[stage].calls[self._done[stage]]
        stages = self._partners(stage, call)
        if not all(self._stands_at(other, stage, call) for other in stages):
            return False
        latest = [self._arrive(other) for other in stages]
        within = _WITHIN.get(call.axis)
        if call.peer or call.axis is Axis.EMBEDDING:
            ends = np.maximum(*latest)
        elif call.axis is Axis.WORLD:
            ends = np.full(self._shape, max(float(one.max()) for one in latest))
        else:
            ends = np.broadcast_to(latest[0].max(axis=within, keepdims=True), self._shape)
        for other in stages:
            self._times[other].completed[self._done[other]] = ends + call.wire_ms / 1e3
            self._done[other] += 1
        return True

    def _partners(self, stage: int, call: Call) -> Sequence[int]:
        if call.peer:
            return (stage, stage + call.peer)
        if call.axis is Axis.WORLD:
            return range(self._layout.pp)
        return (0, self._layout.pp - 1) if call.axis is Axis.EMBEDDING else (stage,)

    def _stands_at(self, other: int, stage: int, call: Call) -> bool:
        """Is the other stage's next call this operation's other part?"""
        index = self._done[other]
        if other == stage:
            return True
        if index >= self._ends[other]:
            return False
        theirs = self._programs[other].calls[index]
        if call.peer:
            return theirs.peer == -call.peer and theirs.op != call.op
        return theirs.axis is call.axis

    def _arrive(self, stage: int) -> Floats:
        """Let the stage's hosts enqueue its next call and its GPUs reach it."""
        index, program, times = self._done[stage], self._programs[stage], self._times[stage]
        calls, completed = program.calls, times.completed
        at = times.enqueued[index - 1] if index else np.zeros(self._shape)
        if index >= self._run_ahead:
            at = np.maximum(at, completed[index - self._run_ahead])
        if index and calls[index - 1].sync:
            at = np.maximum(at, completed[index - 1])
        enqueued = at + calls[index].host_ms / 1e3
        before = completed[index - 1] if index else np.zeros(self._shape)
        arrived = np.maximum(enqueued, before) + self._work(stage, index) / 1e3
        times.enqueued[index], times.arrived[index] = enqueued, arrived
        return np.asarray(arrived)

    def _work(self, stage: int, index: int) -> Floats:
        """Milliseconds of each GPU's own work in front of the call."""
        pace = self._pace[stage]
        work = self._programs[stage].calls[index].compute_ms * pace[
            :, index % pace.shape[1]
        ].astype(np.float64)
        first = stage * len(pace)
        for rank, (since, factor) in self._slow.items():
            if first <= rank < first + len(pace) and index >= since:
                work[rank - first] *= factor
        return work.reshape(self._shape)
