"""Stragglers: ranks whose own time between two collectives is longer than their peers'.

The paper compares the time inside collectives (`TD(r) < α · mean(TD)`, Aegis NSDI '25): the slow
rank has the shortest. Back-pressure spreads that over its whole replica, so here each rank's *own*
time is compared first: from the moment its previous operation can have ended (its last member's
arrival) to its arrival at the next.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from diagnosis.collectives.merge import Merged
from diagnosis.collectives.mismatch import first_of_each
from diagnosis.collectives.settings import CollectiveSettings
from diagnosis.core.collectives import Bools, Entries, Floats, Ints, RankDump

#: Room for a sequence number beside the communicator's number in one 64-bit key.
_SEQ_BITS = 40
#: Arrivals that are compared at most, the newest of each rank, and how many of each at least.
_MOST_ROWS, _FEWEST_ROWS = 1_000_000, 256
_NEVER = np.iinfo(np.int64).max
#: Members that a communicator needs before the odd one out can be told, and by which share their
#: counts of timed operations may differ.
_PEERS, _UNEVEN_SHARE = 3, 0.05


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
    return shortest_durations(merged, settings) or _late(own_delays(merged), merged, settings)


@dataclass(frozen=True)
class _Arrivals:
    """Every launch of every rank in one row: where (`key`), when (ns), and the key before it.

    `over` is when its rank's watchdog saw its end, `_NEVER` where that is not known.
    """

    rank: Ints
    key: Ints
    before: Ints
    at: Ints
    over: Ints
    record_id: Ints


@dataclass(frozen=True)
class Delays:
    """One row a launch: how much longer its rank took for it than its peers' median (ns)."""

    rank: Ints
    excess: Floats
    record_id: Ints
    at: Ints


def own_delays(merged: Merged) -> Delays:
    arrivals = _all_arrivals(merged)
    if arrivals is None:
        none = np.zeros(0, np.int64)
        return Delays(none, np.zeros(0), none, none)
    places, number = np.unique(arrivals.key, return_inverse=True)
    ends = _ends(arrivals, merged, places, number)
    kept = arrivals.before >= 0
    earlier = ends[np.searchsorted(places, arrivals.before[kept])]
    own = np.maximum(0, arrivals.at[kept] - earlier).astype(np.float64)
    excess, shared = _beyond_peers(number[kept], own)
    return Delays(
        arrivals.rank[kept][shared],
        excess[shared],
        arrivals.record_id[kept][shared],
        arrivals.at[kept][shared],
    )


def _ends(arrivals: _Arrivals, merged: Merged, places: Ints, number: Ints) -> Ints:
    """Per place the moment from which its members' own time counts.

    That is its last member's arrival; where a member left no dump, the moment when the first one
    saw it end or went on, lest the wait for that member count as everyone's own time.
    """
    ends = np.zeros(len(places), np.int64)
    np.maximum.at(ends, number, arrivals.at)
    whole = np.asarray([bool(c.reported.all()) for c in merged.progress.communicators], np.bool_)
    doubtful = ~whole[places >> _SEQ_BITS]
    if doubtful.any():
        went_on = np.full(len(places), _NEVER)
        np.minimum.at(went_on, number, arrivals.over)
        later = arrivals.before >= 0
        np.minimum.at(went_on, np.searchsorted(places, arrivals.before[later]), arrivals.at[later])
        doubtful &= went_on < _NEVER
        ends[doubtful] = np.maximum(ends, went_on)[doubtful]
    return ends


def _beyond_peers(place: Ints, own: Floats) -> tuple[Floats, Bools]:
    """Each value minus the median of the *other* values at its place, and where there are any."""
    order = np.lexsort((own, place))
    ordered, places = own[order], place[order]
    starts = np.flatnonzero(np.r_[True, places[1:] != places[:-1]])
    sizes = np.diff(np.r_[starts, len(places)])
    size, start = np.repeat(sizes, sizes), np.repeat(starts, sizes)
    shared = size > 1
    position = np.arange(len(places)) - start
    others = [
        ordered[np.where(shared, start + middle + (position <= middle), start)]
        for middle in ((size - 2) // 2, (size - 1) // 2)
    ]
    excess, has_peers = np.empty(len(own)), np.empty(len(own), np.bool_)
    excess[order] = ordered - (others[0] + others[1]) / 2
    has_peers[order] = shared
    return excess, has_peers


def _all_arrivals(merged: Merged) -> _Arrivals | None:
    found = [item for dump in merged.dumps if (item := _arrivals(merged, dump)) is not None]
    if not found:
        return None
    columns = zip(
        *((f.rank, f.key, f.before, f.at, f.over, f.record_id) for f in found), strict=True
    )
    return _Arrivals(*(np.concatenate(column) for column in columns))


def _arrivals(merged: Merged, dump: RankDump) -> _Arrivals | None:
    """This rank's collectives in the order of its program."""
    entries = dump.entries
    rows, numbers = [], []
    for index, view in merged.views_of.get(dump.rank, ()):
        if len(merged.progress.communicators[index].ranks) > 1:
            firsts = first_of_each(entries.seq, view.rows)
            firsts = firsts[entries.created_ns[firsts] > 0]
            rows.append(firsts)
            numbers.append(np.full(len(firsts), index, np.int64))
    if not rows:
        return None
    row, number = np.concatenate(rows), np.concatenate(numbers)
    order = np.argsort(row)[-max(_FEWEST_ROWS, _MOST_ROWS // len(merged.dumps)) :]
    row, number = row[order], number[order]
    key = (number << _SEQ_BITS) + np.clip(entries.seq[row], 0, (1 << _SEQ_BITS) - 1)
    return _Arrivals(
        rank=np.full(len(row), dump.rank, np.int64),
        key=key,
        before=np.r_[np.int64(-1), key[:-1]][: len(key)],
        at=entries.created_ns[row],
        over=np.where(entries.completed_ns[row] > 0, entries.completed_ns[row], _NEVER),
        record_id=entries.record_id[row],
    )


def _late(delays: Delays, merged: Merged, settings: CollectiveSettings) -> tuple[Straggler, ...]:
    if not len(delays.rank):
        return ()
    sigma = 1.4826 * float(np.median(np.abs(delays.excess)))
    bound = max(settings.late_sigmas * sigma, settings.late_floor_ms * 1e6)
    first = int(delays.at.min())
    span = max(1, int(delays.at.max()) - first)
    every = dict(
        zip(*(part.tolist() for part in np.unique(delays.rank, return_counts=True)), strict=True)
    )
    late = np.flatnonzero(delays.excess > bound)
    late = late[np.argsort(delays.rank[late], kind="stable")]
    found = []
    for mine in np.split(late, np.flatnonzero(np.diff(delays.rank[late])) + 1):
        share = float(delays.excess[mine].sum()) / span
        if len(mine) < max(1, settings.late_times) or share < settings.late_share:
            continue
        if not _persists(delays.at[mine], first, span):
            continue
        rank, worst = int(delays.rank[mine[0]]), mine[np.argmax(delays.excess[mine])]
        found.append(
            Straggler(
                rank=rank,
                late_ms=float(np.median(delays.excess[mine])) / 1e6,
                times=len(mine),
                of=every[rank],
                share=min(share, 1.0),
                record_id=int(delays.record_id[worst]),
                source=_source(merged, rank),
            )
        )
    found.sort(key=lambda item: (-item.share, item.rank))
    return tuple(found) if len(found) <= len(merged.dumps) // 2 else ()


def _persists(mine: Ints, first: int, span: int) -> bool:
    """Late in at least two of the three thirds of the recorded time (`span` ns from `first`)."""
    third = np.clip((mine - first) * 3 // span, 0, 2)
    return len(np.unique(third)) >= 2


def _source(merged: Merged, rank: int) -> str:
    return next(dump.source for dump in merged.dumps if dump.rank == rank)


def shortest_durations(merged: Merged, settings: CollectiveSettings) -> tuple[Straggler, ...]:
    """With timing switched on: ranks that spend far less time inside all their operations.

    A rank's time is its own work or communication, and all ranks of a job take as long for a step:
    who communicates least works longest. Members of one communicator do the same work; a
    communicator of all ranks mixes stages and is compared only where there is no other.
    """
    times = {dump.rank: time_inside(dump.entries) for dump in merged.dumps}
    communicators = merged.progress.communicators
    world = len(merged.progress.world)
    compared = [c for c in communicators if not c.has_p2p and len(c.ranks) >= _PEERS]
    inner = [c for c in compared if len(c.ranks) < world]
    found: dict[int, Straggler] = {}
    for communicator in inner or compared:
        spent = {rank: times[rank] for rank in communicator.ranks.tolist() if rank in times}
        lowest = _far_below(spent, settings)
        if lowest is not None:
            late = _by_duration(merged, lowest, spent)
            found[lowest] = max(found.get(lowest, late), late, key=lambda item: item.share)
    return tuple(sorted(found.values(), key=lambda item: (-item.share, item.rank)))


@dataclass(frozen=True, slots=True)
class _Time:
    """A rank's time inside its operations (µs), how many were timed, over which span (µs)."""

    total: float
    count: int
    span: float
    record_id: int


def time_inside(entries: Entries) -> _Time:
    rows = np.flatnonzero(entries.duration_us > 0)
    last = int(entries.record_id[rows[-1]]) if len(rows) else 0
    created = entries.created_ns[rows]
    span = float(created.max() - created.min()) / 1000 if len(rows) else 0.0
    return _Time(float(entries.duration_us[rows].sum()), len(rows), span, last)


def _far_below(spent: Mapping[int, _Time], settings: CollectiveSettings) -> int | None:
    """The one member far below the mean and the next lowest, if there is one."""
    counts = [item.count for item in spent.values()]
    if len(spent) < _PEERS or min(counts) < settings.late_times:
        return None
    if max(counts) - min(counts) > max(1, _UNEVEN_SHARE * max(counts)):
        return None
    lowest, second = sorted(spent, key=lambda rank: (spent[rank].total, rank))[:2]
    mean = sum(item.total for item in spent.values()) / len(spent)
    bound = settings.duration_share * min(mean, spent[second].total)
    return lowest if spent[lowest].total < bound else None


def _by_duration(merged: Merged, rank: int, spent: Mapping[int, _Time]) -> Straggler:
    own = spent[rank]
    others = sorted(item.total for other, item in spent.items() if other != rank)
    saved = others[len(others) // 2] - own.total
    return Straggler(
        rank=rank,
        late_ms=saved / 1000 / own.count,
        times=own.count,
        of=own.count,
        share=min(1.0, saved / max(own.span, saved)),
        record_id=own.record_id,
        source=_source(merged, rank),
        by_duration=True,
    )
