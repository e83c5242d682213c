"""How far each rank or host is behind, over all communicators in which someone is.

A group is one communicator of `ProgressPicture.data`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Communicators that are shown at most.
MAP_ROWS = 40
#: A count that is not known.
UNKNOWN = -1
Group = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Map:
    """How far each rank or host is behind the first of its communicator; None where not in it."""

    columns: Sequence[str] = ()
    rows: Sequence[str] = ()
    behind: Sequence[Sequence[int | None]] = ()
    blamed: Sequence[str] = ()
    left_out: int = 0


def map_of(groups: Sequence[Group], *, folded: bool, left_out: int) -> Map | None:
    """The disturbed communicators; None where they would be a single line."""
    counted = [group for group in groups if front_of(group) != UNKNOWN]
    shown = [group for group in counted if is_disturbed(group)][:MAP_ROWS]
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
        left_out=len(counted) - len(shown) + left_out,
    )


def is_disturbed(group: Group) -> bool:
    """Whether someone waits, or not everyone is equally far."""
    known = {count for count in group["enqueued"] if count != UNKNOWN}
    return any(group["waiting"]) or len(known) > 1


def front_of(group: Group) -> int:
    return max(group["enqueued"], default=UNKNOWN)


def _names(group: Group, *, folded: bool) -> Sequence[str]:
    if folded:
        return [host or "host not known" for host in group["hosts"]]
    return [str(rank) for rank in group["ranks"]]


def _behind(group: Group, columns: Sequence[str], *, folded: bool) -> Sequence[int | None]:
    front = front_of(group)
    found = {
        name: None if enqueued == UNKNOWN else front - enqueued
        for name, enqueued in zip(_names(group, folded=folded), group["enqueued"], strict=True)
    }
    return [found.get(name) for name in columns]
