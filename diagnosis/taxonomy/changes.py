"""What differs between two sets of rows: added, changed and removed, field by field."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import orjson

Row = Mapping[str, object]


class ChangeKind(StrEnum):
    """What became of a row."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field before and after; None where the row doesn't have it."""

    name: str
    before: object
    after: object


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row that differs; `name` is what people call it. `fields` are in order of names."""

    kind: ChangeKind
    name: str
    before: Row | None
    after: Row | None

    @property
    def fields(self) -> tuple[FieldChange, ...]:
        before, after = self.before or {}, self.after or {}
        return tuple(
            FieldChange(name, before.get(name), after.get(name))
            for name in sorted({*before, *after})
            if before.get(name) != after.get(name)
        )


def by_code(row: Row) -> str:
    return str(row.get("code"))


def by_cluster_and_signature(row: Row) -> str:
    return f"{row.get('signature')} in {row.get('cluster')}"


def by_content(row: Row) -> str:
    """For rows that have no name: a changed one counts as removed and added."""
    return orjson.dumps(dict(row), option=orjson.OPT_SORT_KEYS).decode()


def compare(
    before: Iterable[Row],
    after: Iterable[Row],
    *,
    key: Callable[[Row], Hashable] = by_code,
    name: Callable[[Row], str] | None = None,
) -> tuple[RowChange, ...]:
    """The rows that differ, in order of their names. Order within the sets does not matter."""
    shown = name or (lambda row: str(key(row)))
    old = {key(row): row for row in before}
    new = {key(row): row for row in after}
    changes = [
        _change(shown, old.get(one), new.get(one))
        for one in {*old, *new}
        if old.get(one) != new.get(one)
    ]
    return tuple(sorted(changes, key=lambda change: (change.name, change.kind)))


def _change(shown: Callable[[Row], str], before: Row | None, after: Row | None) -> RowChange:
    kind = ChangeKind.CHANGED
    if before is None:
        kind = ChangeKind.ADDED
    elif after is None:
        kind = ChangeKind.REMOVED
    return RowChange(kind, shown(after or before or {}), before, after)
