"""What the screen shows of a slowdown: the pictures' data, and the same as the rows of tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Rows of a table; a picture has more points.
ROWS = 40

Number = float | None


@dataclass(frozen=True, slots=True)
class PaceTable:
    """Iteration times; `slower` is the slowdown in words, empty where there is none."""

    slower: str
    onset: Number
    before: Number
    after: Number
    rows: Sequence[tuple[float, Number]]


@dataclass(frozen=True, slots=True)
class BandTable:
    """One metric of one suspect beside its peers' quantiles; values as text."""

    metric: str
    host: str
    device: str
    unit: str
    peers: int
    rows: Sequence[tuple[float, Sequence[str]]]


def pace_table(shown: Mapping[str, Any] | None) -> PaceTable | None:
    """The table behind the picture of iteration times."""
    if not shown:
        return None
    before, after = shown["before"], shown["after"]
    slower = f"{after / before - 1:.0%}" if before and after else ""
    rows = list(zip(shown["time"], shown["seconds"], strict=True))
    return PaceTable(slower, shown["onset"], before, after, _some(rows))


def band_table(shown: Mapping[str, Any]) -> BandTable:
    """The table behind the picture of one metric."""
    columns = (shown[name] for name in ("value", "low", "middle", "high"))
    rows = [
        (at, [_number(value) for value in values])
        for at, *values in zip(shown["time"], *columns, strict=True)
    ]
    return BandTable(
        metric=shown["metric"],
        host=shown["host"],
        device=shown["device"] or "",
        unit=shown["unit"],
        peers=shown["peers"],
        rows=_some(rows),
    )


def _some(rows: Sequence[Any]) -> Sequence[Any]:
    """At most `ROWS` of them, evenly spread, the last one included."""
    width = -(-len(rows) // ROWS) or 1
    return rows[::-1][::width][::-1]


def _number(value: Number) -> str:
    if value is None:
        return "no value"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
