"""Progress reports of a running job, in the contract's shape, with a fault and the truth about it.

The simulated program takes seconds; here it is stretched over minutes, with pauses of whole jobs
(a checkpoint, an evaluation) put in between.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diagnosis.simulator.layout import Axis
from diagnosis.simulator.run import Run
from diagnosis.simulator.schedule import Program


@dataclass(frozen=True, slots=True)
class Pause:
    """The whole job pauses between two steps, for `seconds` from `at` on (since the start).

    `phase` is what its ranks call it: "checkpoint", "eval"; "train" where they don't tell.
    """

    at: float
    seconds: float
    phase: str = "checkpoint"


@dataclass(frozen=True)
class LiveJob:
    """A run seen by progress reports: `start` since 1970, one simulated second takes `stretch`.

    Reports show the program's state at a moment; from the onset of a fault on it runs at its own
    speed, and after the last movement they show the same for ever. `tells_started` adds what GPUs
    have begun.
    """

    run: Run
    start: float
    stretch: float
    pauses: Sequence[Pause] = ()
    tells_started: bool = True

    @classmethod
    def that_stops_after(
        cls, run: Run, *, start: float, seconds: float, pauses: Sequence[Pause] = ()
    ) -> "LiveJob":
        """The run, its onset `seconds` of movement after the start."""
        return cls(run, start, seconds / run.onset, pauses)

    @property
    def stops_at(self) -> float:
        """When the first rank concerned was last seen to move (seconds since 1970)."""
        at = self.run.onset * self.stretch
        for pause in sorted(self.pauses, key=lambda one: one.at):
            if pause.at <= at:
                at += pause.seconds
        return self.start + at

    def body(self, at: float, ranks: Sequence[int] | None = None) -> dict[str, object]:
        """What is posted at this time (seconds since 1970) for these ranks; all by default."""
        elapsed, phase = self._program_time(at - self.start)
        asked = range(self.run.job.world) if ranks is None else ranks
        if phase is not None:
            step = min(self._step(rank, elapsed) for rank in range(self.run.job.world))
            reports = [self._between_steps(rank, step, phase) for rank in asked]
        else:
            reports = [self._report(rank, elapsed) for rank in asked]
        return {"time": at, "reports": reports}

    def _program_time(self, since_start: float) -> tuple[float, str | None]:
        """Where the program is after so many seconds, and the phase of a pause that is on."""
        paused = 0.0
        for pause in sorted(self.pauses, key=lambda one: one.at):
            if pause.at <= since_start < pause.at + pause.seconds:
                return (pause.at - paused) / self.stretch, pause.phase
            if since_start >= pause.at + pause.seconds:
                paused += pause.seconds
        moved = max(0.0, since_start - paused)
        until_onset = self.run.onset * self.stretch
        if not until_onset or moved <= until_onset:
            return moved / self.stretch, None
        return self.run.onset + moved - until_onset, None

    def _step(self, rank: int, elapsed: float) -> int:
        completed = bisect_right(self.run.timeline.completed[rank], elapsed)
        starts = self.run.timeline.programs[rank].starts
        return max(0, sum(start <= completed for start in starts) - 1)

    def _report(self, rank: int, elapsed: float) -> dict[str, object]:
        timeline = self.run.timeline
        completed = bisect_right(timeline.completed[rank], elapsed)
        running = completed > timeline.programs[rank].starts[0]
        return self._told(
            rank,
            step=self._step(rank, elapsed),
            phase="train" if running else "init",
            enqueued=bisect_right(timeline.enqueued[rank], elapsed),
            started=max(bisect_right(timeline.arrived[rank], elapsed), completed),
            completed=completed,
        )

    def _between_steps(self, rank: int, step: int, phase: str) -> dict[str, object]:
        """A rank of a job that pauses before a step: nothing is open, everyone is equally far."""
        begun = self.run.timeline.programs[rank].starts[step]
        return self._told(
            rank, step=step, phase=phase, enqueued=begun, started=begun, completed=begun
        )

    def _told(
        self, rank: int, *, step: int, phase: str, enqueued: int, started: int, completed: int
    ) -> dict[str, object]:
        """A report, from how many calls of its program the rank has enqueued, begun and ended."""
        counts = self._counts[id(self.run.timeline.programs[rank])]
        comms: list[dict[str, object]] = []
        for axis, communicator in self._groups[rank]:
            told: dict[str, object] = {
                "comm": communicator,
                "enqueued": int(counts[axis][enqueued]),
                "completed": int(counts[axis][completed]),
            }
            if self.tells_started:
                told["started"] = int(counts[axis][started])
            comms.append(told)
        return {
            "rank": rank,
            "step": self.run.job.first_iteration + step,
            "phase": phase,
            "comms": comms,
        }

    @cached_property
    def _groups(self) -> Sequence[Sequence[tuple[Axis, str]]]:
        """The groups of each rank that it ever calls."""
        layout, timeline = self.run.job.layout, self.run.timeline
        return [
            [
                (group.axis, group.name)
                for group in layout.communicators_of(rank)
                if self._counts[id(timeline.programs[rank])][group.axis][-1]
            ]
            for rank in range(layout.world)
        ]

    @cached_property
    def _counts(self) -> Mapping[int, Mapping[Axis, np.ndarray]]:
        """Per program and axis, how many of its first n calls were there (P2P counted too)."""
        programs = {id(program): program for program in self.run.timeline.programs}
        return {key: dict(_counts_of(program)) for key, program in programs.items()}


def _counts_of(program: Program) -> Iterator[tuple[Axis, np.ndarray]]:
    axes = np.array([call.axis for call in program.calls])
    for axis in Axis:
        yield axis, np.concatenate(([0], np.cumsum(axes == axis)))
