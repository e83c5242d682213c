"""What the screen shows of collective progress: a map, one communicator in detail, the waits.

The input is `ProgressPicture.data`, as `diagnosis.collectives.picture` makes it. What is shown is
bounded whatever the size of the job, the suspicious first.
"""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from typing import Any

from diagnosis.views.progress_map import UNKNOWN, Map, front_of, is_disturbed, map_of

#: Marks in the detail, and waits that are shown at most.
MARKS, WAITS = 32, 60
_ROLES = ("culprit", "possible", "victim")


@dataclass(frozen=True, slots=True)
class Choice:
    """A communicator that can be looked at; `suspicious` where someone in it waits or is blamed."""

    index: int
    label: str
    suspicious: bool


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
class Late:
    """One rank, or one host's ranks, and how long its peers wait for it at a collective."""

    who: str
    host: str
    late_ms: float
    role: str


@dataclass(frozen=True, slots=True)
class Lateness:
    """The latest first, and how many are not shown."""

    marks: Sequence[Late]
    left_out: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Ranks of one communicator that wait for others; all as text."""

    label: str
    call: str
    waiters: str
    blockers: str
    weight: int


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a call mismatch: who called what, where that stands, and the stack, innermost
    first; each frame with whether the other side lacks it."""

    text: str
    evidence: str
    entry: int | None
    frames: Sequence[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Progress:
    """All that the page needs."""

    folded: bool
    choices: Sequence[Choice]
    chosen: int
    map: Map | None
    detail: Detail
    lateness: Lateness | None = None
    waits: Sequence[Wait] = field(default=())
    mismatch: Sequence[Side] = field(default=())
    left_out: int = 0

    @property
    def stacks(self) -> Sequence[Sequence[tuple[str, bool]]]:
        """The frames of both sides of a mismatch as a table's rows."""
        columns = [side.frames for side in self.mismatch]
        return list(zip_longest(*columns, fillvalue=("", False)))

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
    left_out = int(data.get("left_out", 0))
    wanted = data.get("named") if communicator is None else communicator
    chosen = next((one for one in groups if one["index"] == wanted), groups[0])
    return Progress(
        folded=bool(data.get("folded")),
        choices=sorted(
            (Choice(one["index"], one["label"], is_disturbed(one)) for one in groups), key=_natural
        ),
        chosen=chosen["index"],
        map=map_of(groups, folded=bool(data.get("folded")), left_out=left_out),
        detail=_detail(chosen, waits, folded=bool(data.get("folded"))),
        lateness=_lateness(data.get("lateness") or {}, folded=bool(data.get("folded"))),
        waits=[_wait(one, groups) for one in data.get("waits", ())[:WAITS]],
        mismatch=_mismatch(data.get("mismatch", ())),
        left_out=left_out,
    )


def _mismatch(sides: Sequence[Mapping[str, Any]]) -> Sequence[Side]:
    """Both sides; empty where there are not two."""
    if len(sides) != 2:
        return ()
    return [
        Side(
            side["text"],
            side["evidence"],
            side["entry"],
            [(frame, frame not in other["frames"]) for frame in side["frames"]],
        )
        for side, other in (tuple(sides), tuple(reversed(sides)))
    ]


def _lateness(told: Mapping[str, Any], *, folded: bool) -> Lateness | None:
    """None where nobody is late, and in pictures from before this was measured."""
    if not told.get("ranks"):
        return None
    marks = [
        Late(str(ranks) if folded else f"rank {ranks}", host, late_ms, role)
        for ranks, host, late_ms, role in zip(
            told["ranks"], told["hosts"], told["late_ms"], told["blamed"], strict=True
        )
    ]
    return Lateness(marks[:MARKS], max(0, len(marks) - MARKS))


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
        role in {"culprit", "possible"} and enqueued < front_of(group)
        for role, enqueued in zip(group["blamed"], group["enqueued"], strict=True)
    )
    blockers = min((len(wait["blocking_ranks"]) for wait in mine), default=1 << 30)
    return (behind, -blockers, sum(group["waiting"]), group["size"])


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
        enqueued=None if enqueued == UNKNOWN else enqueued,
        completed=None if completed == UNKNOWN else completed,
        state=_state(group, place, awaited),
        role=group["blamed"][place],
    )


def _state(group: Mapping[str, Any], place: int, awaited: Container[object]) -> str:
    if not group["reported"][place]:
        return "no report"
    if group["waiting"][place]:
        return "waits"
    missing = group["enqueued"][place] < front_of(group) or group["ranks"][place] in awaited
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
