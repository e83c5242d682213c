"""What the screen shows of collective progress: a map, one communicator in detail, the waits.

The input is `ProgressPicture.data`, as `diagnosis.collectives.picture` makes it. What is shown is
bounded whatever the size of the job, the suspicious first.
"""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

#: Communicators in the map, marks in the detail, and waits that are shown at most.
MAP_ROWS, MARKS, WAITS = 40, 32, 60
_UNKNOWN = -1
_ROLES = ("culprit", "possible", "victim")


@dataclass(frozen=True, slots=True)
class Choice:
    """A communicator that can be looked at; `suspicious` where someone in it waits or is blamed."""

    index: int
    label: str
    suspicious: bool


@dataclass(frozen=True, slots=True)
class Map:
    """How far each rank or host is behind the first of its communicator; None where not in it."""

    columns: Sequence[str] = ()
    rows: Sequence[str] = ()
    behind: Sequence[Sequence[int | None]] = ()
    blamed: Sequence[str] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """One rank, or one host's ranks, in one communicator; None where a count is not known."""

    who: str
    host: str
    enqueued: int | None
    completed: int | None
    state: str
    role: str


@dataclass(frozen=True, slots=True)
class Detail:
    """One communicator: its marks, those of interest first, and how many are not shown."""

    label: str
    size: int
    ops: Sequence[str]
    marks: Sequence[Mark]
    left_out: int

    @property
    def is_counted(self) -> bool:
        """Whether there are counts to draw; a communicator of point-to-point calls has none."""
        return any(mark.enqueued is not None for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Wait:
    """Ranks of one communicator that wait for others; all as text."""

    label: str
    call: str
    waiters: str
    blockers: str
    weight: int


@dataclass(frozen=True, slots=True)
class Progress:
    """All that the page needs."""

    folded: bool
    choices: Sequence[Choice]
    chosen: int
    map: Map | None
    detail: Detail
    waits: Sequence[Wait] = field(default=())

    @property
    def disturbed(self) -> Sequence[Choice]:
        """The communicators in which someone waits or is behind."""
        return [one for one in self.choices if one.suspicious]

    @property
    def in_step(self) -> Sequence[Choice]:
        """The others."""
        return [one for one in self.choices if not one.suspicious]

    @property
    def map_rows(self) -> Sequence[tuple[str, Sequence[int | None]]]:
        """The map as a table's rows."""
        return list(zip(self.map.rows, self.map.behind, strict=True)) if self.map else []

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def shape(data: Mapping[str, Any], *, communicator: int | None = None) -> Progress | None:
    """The pictures' data with one communicator in detail.

    That is the asked one, else the one that the verdict names, else the most suspicious.
    """
    waits = data.get("waits", ())
    groups = sorted(
        data.get("communicators", ()), key=lambda one: _suspicion(one, waits), reverse=True
    )
    if not groups:
        return None
    wanted = data.get("named") if communicator is None else communicator
    chosen = next((one for one in groups if one["index"] == wanted), groups[0])
    return Progress(
        folded=bool(data.get("folded")),
        choices=sorted(
            (Choice(one["index"], one["label"], _disturbed(one)) for one in groups), key=_natural
        ),
        chosen=chosen["index"],
        map=_map(groups, folded=bool(data.get("folded"))),
        detail=_detail(chosen, waits, folded=bool(data.get("folded"))),
        waits=[_wait(one, groups) for one in data.get("waits", ())[:WAITS]],
    )


def _natural(choice: Choice) -> list[tuple[int, str]]:
    """By words, and numbers in them by their size: group 9 before group 10."""
    parts = re.split(r"(\d+)", choice.label)
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


def _suspicion(
    group: Mapping[str, Any], waits: Sequence[Mapping[str, Any]]
) -> tuple[bool, int, int, int]:
    """First where a suspect is behind, then by how few ranks hold how many others up."""
    mine = [wait for wait in waits if wait["communicator"] == group["index"]]
    behind = any(
        role in {"culprit", "possible"} and enqueued < _front(group)
        for role, enqueued in zip(group["blamed"], group["enqueued"], strict=True)
    )
    blockers = min((len(wait["blocking_ranks"]) for wait in mine), default=1 << 30)
    return (behind, -blockers, sum(group["waiting"]), group["size"])


def _disturbed(group: Mapping[str, Any]) -> bool:
    """Whether someone waits, or not everyone is equally far."""
    known = {count for count in group["enqueued"] if count != _UNKNOWN}
    return any(group["waiting"]) or len(known) > 1


def _front(group: Mapping[str, Any]) -> int:
    return max(group["enqueued"], default=_UNKNOWN)


def _names(group: Mapping[str, Any], *, folded: bool) -> Sequence[str]:
    if folded:
        return [host or "host not known" for host in group["hosts"]]
    return [str(rank) for rank in group["ranks"]]


def _map(groups: Sequence[Mapping[str, Any]], *, folded: bool) -> Map | None:
    """The disturbed communicators; None where they would be a single line."""
    counted = [group for group in groups if _front(group) != _UNKNOWN]
    shown = [group for group in counted if _disturbed(group)][:MAP_ROWS]
    if len(shown) < 2:
        return None
    places: dict[str, tuple[int, str]] = {}
    blamed: set[str] = set()
    for group in shown:
        for place, name in enumerate(_names(group, folded=folded)):
            order = 0 if folded else int(group["ranks"][place])
            places.setdefault(name, (order, name))
            if group["blamed"][place] in {"culprit", "possible"}:
                blamed.add(name)
    columns = sorted(places, key=places.__getitem__)
    return Map(
        columns=columns,
        rows=[group["label"] for group in shown],
        behind=[_behind(group, columns, folded=folded) for group in shown],
        blamed=sorted(blamed, key=places.__getitem__),
        left_out=len(counted) - len(shown),
    )


def _behind(
    group: Mapping[str, Any], columns: Sequence[str], *, folded: bool
) -> Sequence[int | None]:
    front = _front(group)
    found = {
        name: None if enqueued == _UNKNOWN else front - enqueued
        for name, enqueued in zip(_names(group, folded=folded), group["enqueued"], strict=True)
    }
    return [found.get(name) for name in columns]


def _detail(
    group: Mapping[str, Any], waits: Sequence[Mapping[str, Any]], *, folded: bool
) -> Detail:
    order = sorted(range(len(group["ranks"])), key=lambda place: _interest(group, place))
    mine = [wait for wait in waits if wait["communicator"] == group["index"]]
    awaited = frozenset(rank for wait in mine for rank in wait["blocking_ranks"])
    marks = [_mark(group, place, awaited, folded=folded) for place in order[:MARKS]]
    return Detail(group["label"], group["size"], group["ops"], marks, len(order) - len(marks))


def _interest(group: Mapping[str, Any], place: int) -> tuple[int, int, int, int]:
    role = group["blamed"][place]
    rank = _ROLES.index(role) if role in {"culprit", "possible"} else len(_ROLES)
    return (rank, group["enqueued"][place], group["completed"][place], place)


def _mark(
    group: Mapping[str, Any], place: int, awaited: Container[object], *, folded: bool
) -> Mark:
    ranks, host = group["ranks"][place], group["hosts"][place]
    enqueued, completed = group["enqueued"][place], group["completed"][place]
    who = str(ranks) if folded else f"rank {ranks}"
    return Mark(
        who=who,
        host=host,
        enqueued=None if enqueued == _UNKNOWN else enqueued,
        completed=None if completed == _UNKNOWN else completed,
        state=_state(group, place, awaited),
        role=group["blamed"][place],
    )


def _state(group: Mapping[str, Any], place: int, awaited: Container[object]) -> str:
    if not group["reported"][place]:
        return "no report"
    if group["waiting"][place]:
        return "waits"
    missing = group["enqueued"][place] < _front(group) or group["ranks"][place] in awaited
    return "did not arrive" if missing else "arrived"


def _wait(wait: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> Wait:
    group = next((one for one in groups if one["index"] == wait["communicator"]), None)
    label = group["label"] if group else f"communicator {wait['communicator']}"
    call = "point-to-point" if wait["p2p"] else ", ".join(group["ops"]) if group else ""
    return Wait(
        label=label,
        call=f"{call} #{wait['seq']}".strip(),
        waiters=wait["waiters"],
        blockers=wait["blockers"],
        weight=max(1, len(wait["waiting_ranks"])),
    )
