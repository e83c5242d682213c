"""Live progress: what the ranks of a running attempt last reported, and since when it stands."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from diagnosis.core.collectives import Ints

Floats = NDArray[np.float64]


class Phase(IntEnum):
    """What a rank says it is doing; the contract's words by their numbers in arrays."""

    UNKNOWN = 0
    INIT = 1
    TRAIN = 2
    EVAL = 3
    CHECKPOINT = 4

    @property
    def word(self) -> str:
        return self.name.lower()


#: The contract's words.
PHASES = {phase.word: phase for phase in Phase if phase is not Phase.UNKNOWN}


@dataclass(frozen=True)
class CommCounters:
    """One row per membership of a rank in a communicator; -1 where a counter was not told.

    `comm` indexes `names`. Rows are in the order of (comm, rank).
    """

    names: tuple[str, ...]
    comm: Ints
    rank: Ints
    enqueued: Ints
    started: Ints
    completed: Ints

    def __len__(self) -> int:
        return len(self.rank)


@dataclass(frozen=True)
class ProgressBatch:
    """The reports of one call: `time` in seconds since 1970, the rest by rank.

    `step` is -1 where it was not told. `told_comms` marks ranks whose report lists communicators,
    be it none; the others' stay as they were.
    """

    time: float
    ranks: Ints
    step: Ints
    phase: Ints
    told_comms: NDArray[np.bool_]
    counters: CommCounters


@dataclass(frozen=True)
class LiveProgress:
    """The latest report of every rank, with the time since which it shows the same.

    Arrays are in the order of `ranks`, times in seconds since 1970: `seen` of a rank's latest
    report, `changed` of the first one that showed this state, so that `seen - changed` is how long
    it has been seen standing still. `moves` counts the reports in which the job as a whole had
    moved; `pauses` are its latest pauses in between (s), and `pace_*` its steps over time.
    """

    ranks: Ints
    seen: Floats
    changed: Floats
    step: Ints
    phase: Ints
    counters: CommCounters
    moves: int = 0
    pauses: tuple[float, ...] = ()
    pace_time: Floats = field(default_factory=lambda: np.zeros(0))
    pace_step: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def last_seen(self) -> float:
        """When any rank reported last."""
        return float(self.seen.max())

    @property
    def last_moved(self) -> float:
        """When any rank was last seen to have moved."""
        return float(self.changed.max())


def no_counters() -> CommCounters:
    """Nobody told of any communicator."""
    none = np.zeros(0, np.int64)
    return CommCounters((), none, none, none, none, none)
