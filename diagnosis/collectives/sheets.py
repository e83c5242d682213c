"""From rows of counters to communicators × ranks: whose row it is, which is the latest, what moved.

Rows of a communicator that spans the whole job tell its processes' ranks; those of others are
found through their process, or through the placement. Nothing is filled in: a counter that no row
tells stays unknown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from diagnosis.core.collectives import NOT_KNOWN, Communicator, Ints
from diagnosis.core.counters import CounterRow, CounterSheet, Timing
from diagnosis.core.placement import Placement
from diagnosis.core.target import normalise_host


@dataclass(frozen=True)
class Joined:
    """Communicators with global ranks, and per (communicator, rank) its latest row.

    `still_s` is for how long every counter that was told twice has shown the same, None where
    nothing was told twice; `moved` says that some counter changed between a rank's last two rows.
    `timings` are the collectives that each (communicator, rank) was timed in, the oldest first.
    """

    communicators: tuple[Communicator, ...]
    latest: Mapping[tuple[int, int], CounterRow] = field(default_factory=dict)
    world: tuple[int, ...] = ()
    still_s: float | None = None
    moved: bool = False
    notes: tuple[str, ...] = ()
    timings: Mapping[tuple[int, int], tuple[Timing, ...]] = field(default_factory=dict)


def joined(sheet: CounterSheet, placement: Placement) -> Joined:
    """All rows as communicators; the order of the rows does not matter, except between equals."""
    who = _GlobalRanks(sheet.rows, placement)
    by_member: dict[tuple[str, int], list[CounterRow]] = {}
    for row in sheet.rows:
        rank = who.of(row)
        if rank is not None:
            by_member.setdefault((row.communicator, rank), []).append(row)
    for rows in by_member.values():
        rows.sort(key=_when)
    members: dict[str, dict[int, CounterRow]] = {}
    for (name, rank), rows in sorted(by_member.items()):
        members.setdefault(name, {})[rank] = rows[-1]
    names = [name for name, rows in members.items() if _translate_peers(rows)]
    communicators = tuple(_communicator(name, members[name]) for name in names)
    still_s, moved = _motion(by_member.values())
    notes = list(sheet.notes)
    if who.unknown:
        notes.append(f"{who.unknown} rows belong to ranks that nothing tells")
    ranks = {rank for _, rank in by_member} | placement.by_rank.keys()
    return Joined(
        communicators=communicators,
        latest={(n, r): row for n, name in enumerate(names) for r, row in members[name].items()},
        world=tuple(sorted(ranks)),
        still_s=still_s,
        moved=moved,
        notes=tuple(notes),
        timings=_timings(names, by_member),
    )


def _timings(
    names: Sequence[str], by_member: Mapping[tuple[str, int], Sequence[CounterRow]]
) -> Mapping[tuple[int, int], tuple[Timing, ...]]:
    number = {name: index for index, name in enumerate(names)}
    told = {
        (number[name], rank): tuple(timing for row in rows for timing in row.timings)
        for (name, rank), rows in by_member.items()
    }
    return {member: timings for member, timings in told.items() if timings}


def _translate_peers(rows: dict[int, CounterRow]) -> int:
    """Peers by the job's ranks, in place; those that no row speaks for stay unknown."""
    global_of = {row.rank: rank for rank, row in rows.items()}
    for rank, row in rows.items():
        if row.oldest is not None:
            peer = global_of.get(row.oldest.peer, NOT_KNOWN)
            rows[rank] = replace(row, oldest=replace(row.oldest, peer=peer))
    return len(rows)


def _when(row: CounterRow) -> tuple[float, str, int]:
    return (float("-inf") if row.time is None else row.time, row.evidence, row.line)


class _GlobalRanks:
    """Which rank of the job a row is about; counts the rows for which that cannot be told."""

    def __init__(self, rows: Iterable[CounterRow], placement: Placement) -> None:
        self.unknown = 0
        local = [row for row in rows if row.global_rank == NOT_KNOWN]
        sizes: dict[str, tuple[int, int]] = {}
        for row in local:
            known = sizes.get(row.communicator, (row.size, 0))
            sizes[row.communicator] = (max(known[0], row.size), max(known[1], row.rank + 1))
        spans = {name: max(told, seen) for name, (told, seen) in sizes.items()}
        world = max(len(placement), max(spans.values(), default=0))
        self._whole = {name for name, size in spans.items() if size == world}
        self._by_process = {
            (normalise_host(row.host), row.process): row.rank
            for row in local
            if row.communicator in self._whole and row.host and row.process != NOT_KNOWN
        }
        self._alone = {
            host: ranks[0] for host, ranks in placement.ranks_by_host.items() if len(ranks) == 1
        }

    def of(self, row: CounterRow) -> int | None:
        if row.global_rank != NOT_KNOWN:
            return row.global_rank
        if row.communicator in self._whole:
            return row.rank
        host = normalise_host(row.host) if row.host else ""
        rank = self._by_process.get((host, row.process), self._alone.get(host))
        self.unknown += rank is None
        return rank


def _communicator(name: str, rows: Mapping[int, CounterRow]) -> Communicator:
    def column(counter: str) -> Ints:
        return np.asarray([getattr(row, counter) for row in rows.values()], np.int64)

    enqueued, completed, wr, wc = map(column, ("launched", "completed", "wr", "wc"))
    told = (wr != NOT_KNOWN).any()
    return Communicator(
        name=name,
        desc="",
        ranks=np.asarray(list(rows), np.int64),
        enqueued=enqueued,
        started=np.full(len(rows), NOT_KNOWN, np.int64),
        completed=np.where(enqueued == NOT_KNOWN, NOT_KNOWN, completed),
        reported=(enqueued != NOT_KNOWN) | (completed != NOT_KNOWN) | (wr != NOT_KNOWN),
        wr=wr if told else None,
        wc=wc if told else None,
    )


def _motion(histories: Iterable[Sequence[CounterRow]]) -> tuple[float | None, bool]:
    """For how long all counters have stood still, and whether any moved between its last two."""
    still: list[float] = []
    for rows in histories:
        if len(rows) < 2 or rows[-1].time is None or rows[-2].time is None:
            continue
        if _counts(rows[-2]) != _counts(rows[-1]):
            return 0.0, True
        same = [r.time for r in rows if _counts(r) == _counts(rows[-1]) and r.time is not None]
        still.append(rows[-1].time - min(same))
    return (min(still), False) if still else (None, False)


def _counts(row: CounterRow) -> tuple[int, ...]:
    return row.launched, row.completed, row.wr, row.wc
