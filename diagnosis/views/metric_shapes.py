"""What the screen shows of a slowdown: the pictures' data, and the same as the rows of tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Rows of a table; a picture has more points.
ROWS = 40
#: Deviations from which on a cell of the map is drawn louder.
MAP_LEVELS = (4.0, 8.0, 16.0, 32.0)
#: Beyond this factor a change is not told in percent.
LARGEST_FACTOR = 20.0

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


@dataclass(frozen=True, slots=True)
class ShiftRow:
    """One metric of one suspect before and after; values as text."""

    host: str
    device: str
    metric: str
    unit: str
    before: str
    after: str
    peers: str
    change: str
    deviations: str


@dataclass(frozen=True, slots=True)
class MapCell:
    """A cell of the map: its deviations as text, and how loud it is drawn (0 to 4)."""

    text: str
    level: int


@dataclass(frozen=True, slots=True)
class OutlierMap:
    """Hosts by metrics: those that moved furthest; `others` more hosts are not shown."""

    metrics: Sequence[str]
    rows: Sequence[tuple[str, Sequence[MapCell]]]
    others: int


def shift_table(shown: Sequence[Mapping[str, Any]]) -> list[ShiftRow]:
    """What changed on the suspects, the strongest first."""
    return [
        ShiftRow(
            host=row["host"],
            device=row["device"] or "",
            metric=row["metric"],
            unit=row["unit"],
            before=_number(row["before"]),
            after=_number(row["after"]),
            peers=_number(row["peers"]),
            change=_change(row["before"], row["after"]),
            deviations=f"{row['deviations']:+.0f}",
        )
        for row in shown
    ]


def outlier_table(shown: Mapping[str, Any] | None) -> OutlierMap | None:
    """The map as the rows of a table, which is the picture itself."""
    if not shown:
        return None
    rows = [
        (host, [_cell(value) for value in cells])
        for host, cells in zip(shown["hosts"], shown["cells"], strict=True)
    ]
    return OutlierMap(shown["metrics"], rows, shown["others"])


def _cell(value: Number) -> MapCell:
    if value is None:
        return MapCell("", 0)
    level = sum(value >= bound for bound in MAP_LEVELS)
    return MapCell(f"{value:+.0f}" if level or value <= -MAP_LEVELS[0] else "", level)


def _change(before: float, after: float) -> str:
    """In percent where that says something: not of a counter that was near zero."""
    if abs(after) > LARGEST_FACTOR * abs(before):
        return "from nearly nothing"
    return f"{(after / before - 1) * 100:+.0f} %" if before else "no change"


def _some(rows: Sequence[Any]) -> Sequence[Any]:
    """At most `ROWS` of them, evenly spread, the last one included."""
    width = -(-len(rows) // ROWS) or 1
    return rows[::-1][::width][::-1]


def _number(value: Number) -> str:
    if value is None:
        return "no value"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
