"""Stragglers: ranks whose own time between two collectives is longer than their peers'.

The paper compares the time inside collectives (`TD(r) < α · mean(TD)`, Aegis NSDI '25): the slow
rank has the shortest. Back-pressure spreads that over its whole replica, so here each rank's *own*
time is compared first: from the moment its previous operation can have ended (its last member's
arrival) to its arrival at the next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diagnosis.collectives.merge import Merged
from diagnosis.collectives.mismatch import first_of_each
from diagnosis.collectives.settings import CollectiveSettings
from diagnosis.core.collectives import Ints, RankDump

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Straggler:
    """A rank that arrives late again and again.

    `late_ms` is its median delay where it was late, `times` how often, `of` out of how many
    comparable operations, `share` the part of the recorded time that its delays take.
    """

    rank: int
    late_ms: float
    times: int
    of: int
    share: float
    record_id: int
    source: str
    by_duration: bool = False


def stragglers(merged: Merged, settings: CollectiveSettings) -> tuple[Straggler, ...]:
    """The late ranks, worst first; empty when nobody is late by more than the usual spread."""
    delays = _delays(merged)
    found = _late(delays, merged, settings)
    return found or _shortest_durations(merged, settings)


@dataclass(frozen=True)
class _Delays:
    """One row an arrival: how much longer its rank took than its peers' median (ns)."""

    rank: Ints
    excess: Floats
    record_id: Ints
    at: Ints


def _delays(merged: Merged) -> _Delays:
    own = _own_times(merged)
    ranks, excess, records, at = [], [], [], []
    for times in own.values():
        if len(times.rank) < 2:
            continue
        ranks.append(times.rank)
        excess.append(_beyond_peers(times.own))
        records.append(times.record_id)
        at.append(times.at)
    if not ranks:
        none = np.zeros(0, np.int64)
        return _Delays(none, np.zeros(0), none, none)
    return _Delays(
        np.concatenate(ranks), np.concatenate(excess), np.concatenate(records), np.concatenate(at)
    )


def _beyond_peers(own: Floats) -> Floats:
    """Each value minus the median of the *other* ones."""
    order = np.argsort(own)
    ordered = own[order]
    size = len(own)
    low, high = (size - 2) // 2, (size - 1) // 2
    place = np.arange(size)
    left = ordered[np.where(place <= low, low + 1, low)]
    right = ordered[np.where(place <= high, high + 1, high)] if size > 2 else left
    result = np.empty(size)
    result[order] = ordered - (left + right) / 2
    return result


@dataclass(frozen=True)
class _OwnTimes:
    rank: Ints
    own: Floats
    record_id: Ints
    at: Ints


def _own_times(merged: Merged) -> Mapping[tuple[int, int], _OwnTimes]:
    """(communicator, sequence number) → each member's own time before it (ns)."""
    arrivals = {dump.rank: _arrivals(merged, dump) for dump in merged.dumps}
    last: dict[tuple[int, int], int] = {}
    for rows in arrivals.values():
        for key, at, _ in rows:
            last[key] = max(last.get(key, 0), at)
    table: dict[tuple[int, int], list[tuple[int, float, int, int]]] = {}
    for rank, rows in arrivals.items():
        for (before, _, _), (key, at, record) in pairwise(rows):
            own = float(max(0, at - last[before]))
            table.setdefault(key, []).append((rank, own, record, at))
    return {
        key: _OwnTimes(
            rank=np.asarray([row[0] for row in rows], np.int64),
            own=np.asarray([row[1] for row in rows]),
            record_id=np.asarray([row[2] for row in rows], np.int64),
            at=np.asarray([row[3] for row in rows], np.int64),
        )
        for key, rows in table.items()
    }


def _arrivals(merged: Merged, dump: RankDump) -> Sequence[tuple[tuple[int, int], int, int]]:
    """This rank's collectives in order: ((communicator, seq), time of launch, record id)."""
    entries = dump.entries
    rows: list[tuple[int, int, int, int]] = []
    for index, communicator in enumerate(merged.progress.communicators):
        view = merged.views.get((index, dump.rank))
        if view is None or len(communicator.ranks) < 2:
            continue
        firsts = first_of_each(entries.seq, view.rows)
        rows += [
            (int(row), index, int(entries.seq[row]), int(entries.created_ns[row]))
            for row in firsts[entries.created_ns[firsts] > 0]
        ]
    rows.sort()
    return [((index, seq), at, int(entries.record_id[row])) for row, index, seq, at in rows]


def _late(delays: _Delays, merged: Merged, settings: CollectiveSettings) -> tuple[Straggler, ...]:
    if not len(delays.rank):
        return ()
    sigma = 1.4826 * float(np.median(np.abs(delays.excess)))
    bound = max(settings.late_sigmas * sigma, settings.late_floor_ms * 1e6)
    span = float(delays.at.max() - delays.at.min()) or 1.0
    late = delays.excess > bound
    found = []
    for rank in np.unique(delays.rank[late]):
        mine = late & (delays.rank == rank)
        share = float(delays.excess[mine].sum()) / span
        if mine.sum() < settings.late_times or share < settings.late_share:
            continue
        if not _persists(delays.at[mine], delays.at):
            continue
        worst = int(np.flatnonzero(mine)[np.argmax(delays.excess[mine])])
        found.append(
            Straggler(
                rank=int(rank),
                late_ms=float(np.median(delays.excess[mine])) / 1e6,
                times=int(mine.sum()),
                of=int((delays.rank == rank).sum()),
                share=min(share, 1.0),
                record_id=int(delays.record_id[worst]),
                source=_source(merged, int(rank)),
            )
        )
    found.sort(key=lambda item: (-item.share, item.rank))
    return tuple(found) if len(found) <= len(merged.dumps) // 2 else ()


def _persists(mine: Ints, everyone: Ints) -> bool:
    """Late in at least two of the three thirds of the recorded time."""
    first, last = int(everyone.min()), int(everyone.max())
    third = np.clip((mine - first) * 3 // max(1, last - first), 0, 2)
    return len(np.unique(third)) >= 2


def _source(merged: Merged, rank: int) -> str:
    return next(dump.source for dump in merged.dumps if dump.rank == rank)


def _shortest_durations(merged: Merged, settings: CollectiveSettings) -> tuple[Straggler, ...]:
    """With timing switched on: ranks far below the mean time inside the same collectives."""
    totals: dict[int, dict[int, tuple[float, int, int]]] = {}
    for (index, rank), view in merged.views.items():
        entries = next(dump.entries for dump in merged.dumps if dump.rank == rank)
        rows = view.rows[entries.duration_us[view.rows] > 0]
        if len(rows) >= settings.late_times and not merged.progress.communicators[index].has_p2p:
            total = float(entries.duration_us[rows].sum())
            totals.setdefault(index, {})[rank] = (
                total,
                len(rows),
                int(entries.record_id[rows[-1]]),
            )
    found: dict[int, Straggler] = {}
    for by_rank in totals.values():
        counts = {count for _, count, _ in by_rank.values()}
        if len(by_rank) < 3 or max(counts) - min(counts) > 1:
            continue
        mean = sum(total for total, _, _ in by_rank.values()) / len(by_rank)
        lowest = min(by_rank, key=lambda rank: (by_rank[rank][0], rank))
        total, count, record = by_rank[lowest]
        others = sorted(t for rank, (t, _, _) in by_rank.items() if rank != lowest)
        if total < settings.duration_share * mean and total < settings.duration_share * others[0]:
            saved = (others[len(others) // 2] - total) / 1000
            found[lowest] = Straggler(
                rank=lowest, late_ms=saved / count, times=count, of=count,
                share=min(1.0, 1 - total / mean), record_id=record,
                source=_source(merged, lowest), by_duration=True,
            )  # fmt: skip
    return tuple(sorted(found.values(), key=lambda item: (-item.share, item.rank)))
