"""Rows of collective counters, whatever source they were read from.

One row is what one rank said of one communicator at one moment. `diagnosis.collectives.sheets`
joins rows into communicators × ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

#: What a source does not tell, in every counter, as `diagnosis.core.collectives` has it.
NOT_TOLD = -1


@dataclass(frozen=True, slots=True)
class Outstanding:
    """The oldest work request that was posted and has not completed.

    `peer` is the rank at its other end, within the communicator where the row's own rank is; -1
    where the source does not tell. `posted` is seconds since the epoch, None where not told.
    """

    peer: int = NOT_TOLD
    posted: float | None = None
    device: str = ""


@dataclass(frozen=True, slots=True)
class Timing:
    """One collective that a rank has been through: `number` of its type in the communicator.

    `inside_us` is the time that the rank spent inside it (the paper's TD), `bytes_per_us` its
    throughput there, the inverse of the paper's N; None where the source does not tell.
    """

    operation: str
    number: int
    inside_us: float
    bytes_per_us: float | None = None


@dataclass(frozen=True, slots=True)
class CounterRow:
    """What a rank counted in a communicator; -1 and None stand for what its source does not tell.

    `rank` counts as the source counts, peers too; `global_rank` is the job's rank where that is
    known, and `host` and `process` may tell it where it is not. `launched` is CL, `completed` are
    collectives that ended; `wr` and `wc` are work requests posted and completed, and never the
    same as `completed`. `timings` are the last collectives that were timed, the oldest first.
    `line` counts from 1.
    """

    communicator: str
    rank: int
    source: str
    evidence: str
    line: int
    size: int = NOT_TOLD
    global_rank: int = NOT_TOLD
    host: str | None = None
    process: int = NOT_TOLD
    time: float | None = None
    launched: int = NOT_TOLD
    completed: int = NOT_TOLD
    wr: int = NOT_TOLD
    wc: int = NOT_TOLD
    operation: str = ""
    oldest: Outstanding | None = None
    timings: tuple[Timing, ...] = ()


@dataclass(frozen=True)
class CounterSheet:
    """All rows of one or several sources, and what is weak about them."""

    rows: tuple[CounterRow, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def joined(cls, sheets: Sequence["CounterSheet"]) -> "CounterSheet":
        """All rows in the order of the sheets, each note once."""
        rows = tuple(row for sheet in sheets for row in sheet.rows)
        return cls(rows, tuple(dict.fromkeys(note for sheet in sheets for note in sheet.notes)))
