"""Rows of collective counters, whatever source they were read from.

One row is what one rank said of one communicator at one moment. `diagnosis.collectives.sheets`
joins rows into communicators × ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from diagnosis.core.collectives import NOT_KNOWN


@dataclass(frozen=True, slots=True)
class Outstanding:
    """The oldest work request that was posted and has not completed.

    `peer` is the rank at its other end, within the communicator where the row's own rank is; -1
    where the source does not tell. `posted` is seconds since the epoch, None where not told.
    """

    peer: int = NOT_KNOWN
    posted: float | None = None
    device: str = ""


@dataclass(frozen=True, slots=True)
class CounterRow:
    """What a rank counted in a communicator; -1 and None stand for what its source does not tell.

    `rank` is global where `is_global`, else it counts within the communicator, and `host` and
    `process` may tell who that is. `launched` is CL. `completed` are collectives that ended; `wr`
    and `wc` are work requests posted and completed, and never the same as `completed`. `td_us` is
    the time inside the last collective, `bytes_per_us` its throughput. `line` counts from 1.
    """

    communicator: str
    rank: int
    source: str
    evidence: str
    line: int
    size: int = NOT_KNOWN
    is_global: bool = True
    host: str | None = None
    process: int = NOT_KNOWN
    time: float | None = None
    launched: int = NOT_KNOWN
    completed: int = NOT_KNOWN
    wr: int = NOT_KNOWN
    wc: int = NOT_KNOWN
    operation: str = ""
    oldest: Outstanding | None = None
    td_us: float | None = None
    bytes_per_us: float | None = None


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
