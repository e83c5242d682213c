"""From single dumps to one `CollectiveProgress`: counters, and where each rank waits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np

from diagnosis.collectives.failed_ends import failed_ends
from diagnosis.collectives.membership import GroupKey, Membership, membership_of
from diagnosis.collectives.operations import BACKENDS_WITHOUT_EVENTS
from diagnosis.core.collectives import (
    NOT_KNOWN,
    Bools,
    CollectiveProgress,
    Communicator,
    Counters,
    Entries,
    Ints,
    OpenOperation,
    OpState,
    RankDump,
)
from diagnosis.core.placement import Placement

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class RankView:
    """One rank's share in one communicator: its counters and the rows it has not finished."""

    counters: Counters
    rows: Ints
    open_collectives: Ints
    open_p2p: Ints
    has_p2p: bool


@dataclass(frozen=True)
class Merged:
    """The progress, and the dumps with their rows by communicator for rules that compare calls."""

    progress: CollectiveProgress
    dumps: tuple[RankDump, ...]
    views: Mapping[tuple[int, int], RankView]

    @cached_property
    def views_in(self) -> Mapping[int, Sequence[tuple[RankDump, RankView]]]:
        """Communicator → its members' dumps and views, in rank order."""
        by_rank = {dump.rank: dump for dump in self.dumps}
        found: dict[int, list[tuple[RankDump, RankView]]] = {}
        for index, rank in sorted(self.views):
            found.setdefault(index, []).append((by_rank[rank], self.views[index, rank]))
        return found

    @cached_property
    def views_of(self) -> Mapping[int, Sequence[tuple[int, RankView]]]:
        """Rank → its communicators and views, in the order of communicators."""
        found: dict[int, list[tuple[int, RankView]]] = {}
        for index, rank in sorted(self.views):
            found.setdefault(rank, []).append((index, self.views[index, rank]))
        return found


def one_dump_a_rank(dumps: Sequence[RankDump]) -> tuple[tuple[RankDump, ...], tuple[str, ...]]:
    """The latest dump of each rank in rank order, and a note where others were set aside."""
    latest: dict[int, RankDump] = {}
    for dump in sorted(dumps, key=_recency):
        latest[dump.rank] = dump
    spare = len(dumps) - len(latest)
    notes = (f"{spare} older or double dumps were set aside, one a rank is used",) if spare else ()
    return tuple(latest[rank] for rank in sorted(latest)), notes


def _recency(dump: RankDump) -> tuple[int, int, int, str]:
    entries = dump.entries
    last = int(entries.created_ns.max()) if len(entries) else 0
    framed = sum(len(stack) > 0 for stack in entries.stacks)
    return last, len(entries), framed, dump.source


def merge(dumps: Sequence[RankDump], placement: Placement) -> Merged:
    """All dumps of one attempt as one progress; the order of `dumps` does not matter."""
    ordered, notes = one_dump_a_rank(dumps)
    members = membership_of(ordered, placement)
    keys = sorted(members.members, key=lambda key: (len(key.name), key.name, key.ranks))
    number = {key: index for index, key in enumerate(keys)}
    reported = frozenset(dump.rank for dump in ordered)
    done = {dump.rank: finished(dump.entries) for dump in ordered}
    views = _all_views(ordered, members, number, done)
    if any(len(view.open_collectives) for view in views.values()) and (
        doubtful := failed_ends(ordered, members)
    ):
        for rank, row in doubtful.items():
            done[rank][row] = False
        views = _all_views(ordered, members, number, done)
    communicators = tuple(
        _communicator(index, key, members, views, reported) for index, key in enumerate(keys)
    )
    waiting, open_in = _open_operations(ordered, views, communicators)
    progress = CollectiveProgress(
        communicators=communicators,
        waiting=waiting,
        open_in=open_in,
        world=members.world,
        reported=reported,
        hosts=_hosts(ordered, placement),
        notes=(*notes, *_notes(ordered, members, communicators)),
    )
    return Merged(progress=progress, dumps=ordered, views=views)


def finished(entries: Entries) -> Bools:
    """Which operations are over: completed, or retired on backends that record nothing else."""
    done = entries.state == OpState.COMPLETED
    blind = rows_where(entries.backend, entries.backends, BACKENDS_WITHOUT_EVENTS.__contains__)
    return np.where(blind, entries.retired, done) if blind.any() else done


def rows_where(column: Ints, table: Sequence[Value], accepts: Callable[[Value], bool]) -> Bools:
    """Which rows of a column point at a value of its table that is accepted."""
    accepted = np.fromiter(map(accepts, table), np.bool_, len(table))
    return accepted[column] if len(table) else np.zeros(len(column), np.bool_)


def _all_views(
    dumps: Sequence[RankDump],
    members: Membership,
    number: Mapping[GroupKey, int],
    done: Mapping[int, Bools],
) -> dict[tuple[int, int], RankView]:
    return {
        (number[key], dump.rank): view
        for dump in dumps
        for key, view in _views(dump, members, done[dump.rank]).items()
    }


def _views(dump: RankDump, members: Membership, done: Bools) -> dict[GroupKey, RankView]:
    entries = dump.entries
    pg_ids = _pg_ids(dump)
    views: dict[GroupKey, RankView] = {}
    numbers = {name: index for index, (name, _) in enumerate(entries.groups)}
    collectives, p2p = _rows_by_group(entries)
    none = np.zeros(0, np.int64)
    for name, key in members.keys[dump.rank].items():
        number = numbers.get(name)
        status = dump.status.get(pg_ids.get(name, NOT_KNOWN), Counters())
        own, sent = (none, none) if number is None else (collectives[number], p2p[number])
        views[key] = _view(entries, done, own, sent, status)
    return views


def _rows_by_group(entries: Entries) -> tuple[Sequence[Ints], Sequence[Ints]]:
    """Each group's collectives, and its sends and receives, as ascending rows."""
    count = len(entries.groups)
    kind = entries.group + count * entries.is_p2p
    order = np.argsort(kind, kind="stable")
    edges = np.searchsorted(kind[order], np.arange(2 * count + 1)).tolist()
    parts = [order[start:stop] for start, stop in pairwise(edges)]
    return parts[:count], parts[count:]


def _view(entries: Entries, done: Bools, rows: Ints, p2p: Ints, status: Counters) -> RankView:
    rows = _last_generation(entries, rows)
    open_rows = _after_last(done, rows)
    open_p2p = _open_p2p(entries, done, p2p)
    counters = _counters(entries, rows, open_rows, status, mixed=len(p2p) > 0)
    return RankView(counters, rows, open_rows, open_p2p, len(p2p) > 0)


def _last_generation(entries: Entries, rows: Ints) -> Ints:
    """Rows since the group's sequence last started anew (an abort and a new communicator)."""
    seq = entries.seq[rows]
    restarts = (seq[1:] < seq[:-1]).nonzero()[0]
    return rows[restarts[-1] + 1 :] if len(restarts) else rows


def _after_last(done: Bools, rows: Ints) -> Ints:
    """Unfinished rows behind the last finished one: a communicator completes in order."""
    finished_at = done[rows].nonzero()[0]
    return rows[finished_at[-1] + 1 :] if len(finished_at) else rows


def _open_p2p(entries: Entries, done: Bools, rows: Ints) -> Ints:
    """Unfinished sends and receives, each judged against later ones with the same peer only.

    The parts of a batch have no events of their own: they end with its closing `coalesced` entry.
    """
    if not len(rows):
        return rows
    calls = entries.call[rows]
    batches = rows_where(calls, entries.calls, lambda call: call.op == "coalesced")
    if batches.any():
        left = ~np.isin(entries.p2p_seq[rows], entries.p2p_seq[rows[done[rows] & batches]])
        rows, calls = rows[left], calls[left]
    sends = rows_where(calls, entries.calls, lambda call: call.op.startswith("send"))
    way = 2 * entries.peer[rows] + sends
    still_open = [_after_last(done, rows[way == one]) for one in set(way.tolist())]
    return np.sort(np.concatenate(still_open)) if still_open else rows


def _counters(
    entries: Entries, rows: Ints, open_rows: Ints, status: Counters, *, mixed: bool
) -> Counters:
    """Entries first; `pg_status` where the ring no longer holds them, unless it counts P2P too."""
    enqueued = int(entries.seq[rows].max()) if len(rows) else NOT_KNOWN
    started = NOT_KNOWN
    if len(open_rows):
        completed = int(entries.seq[open_rows[0]]) - 1
    elif len(rows):
        completed = enqueued
    else:
        completed = NOT_KNOWN
    if not mixed and not len(rows):
        enqueued, started, completed = status.enqueued, status.started, status.completed
    return Counters(enqueued, started, completed)


def _pg_ids(dump: RankDump) -> dict[str, int]:
    """Group name → this process's `pg_id`, joined through entries, else by order of creation.

    Both numbers grow with creation, so where a rank has as many counters as groups, and no entry
    contradicts it, the n-th counter belongs to the n-th group.
    """
    entries = dump.entries
    last = np.full(len(entries.groups), NOT_KNOWN, np.int64)
    last[entries.group] = entries.pg_id
    told = zip(entries.groups, last.tolist(), strict=True)
    joined = {name: pg_id for (name, _), pg_id in told if pg_id != NOT_KNOWN}
    names = [name for name in dump.groups if name.isdecimal()]
    if len(names) == len(dump.groups) == len(dump.status):
        by_order = dict(zip(sorted(names, key=int), sorted(dump.status), strict=True))
        if all(by_order.get(name) == pg_id for name, pg_id in joined.items()):
            return by_order
    return joined


def _communicator(
    index: int,
    key: GroupKey,
    members: Membership,
    views: Mapping[tuple[int, int], RankView],
    dumped: frozenset[int],
) -> Communicator:
    ranks = members.members[key]
    found = [views.get((index, rank)) for rank in ranks]
    counters = [view.counters if view else Counters() for view in found]
    return Communicator(
        name=key.name,
        desc=members.descriptions[key],
        ranks=np.asarray(ranks, np.int64),
        enqueued=np.asarray([item.enqueued for item in counters], np.int64),
        started=np.asarray([item.started for item in counters], np.int64),
        completed=np.asarray([item.completed for item in counters], np.int64),
        reported=np.asarray([rank in dumped for rank in ranks], np.bool_),
        has_p2p=any(view.has_p2p for view in found if view),
    )


def _open_operations(
    dumps: Sequence[RankDump],
    views: Mapping[tuple[int, int], RankView],
    communicators: Sequence[Communicator],
) -> tuple[dict[int, OpenOperation], dict[tuple[int, int], OpenOperation]]:
    by_rank = {dump.rank: dump for dump in dumps}
    waiting: dict[int, OpenOperation] = {}
    open_in: dict[tuple[int, int], OpenOperation] = {}
    for (index, rank), view in views.items():
        for rows in (view.open_collectives, view.open_p2p):
            if not len(rows):
                continue
            found = _open_operation(by_rank[rank], index, rows, communicators[index])
            if not found.peers:
                open_in[index, rank] = found
            if rank not in waiting or found.record_id < waiting[rank].record_id:
                waiting[rank] = found
    return waiting, open_in


def _open_operation(
    dump: RankDump, index: int, rows: Ints, communicator: Communicator
) -> OpenOperation:
    entries, row = dump.entries, int(rows[0])
    stack = int(entries.stack[row])
    found = OpenOperation(
        rank=dump.rank,
        communicator=index,
        seq=int(entries.seq[row]),
        call=entries.calls[int(entries.call[row])],
        record_id=int(entries.record_id[row]),
        source=dump.source,
        state=OpState(int(entries.state[row])),
        created_ns=int(entries.created_ns[row]),
        timeout_ms=int(entries.timeout_ms[row]),
        failed=bool(entries.retired[row]),
        frames=entries.stacks[stack] if stack >= 0 else (),
    )
    if not entries.is_p2p[row]:
        return found
    return replace(
        found,
        seq=int(entries.p2p_seq[row]),
        peers=_batch_peers(entries, rows, communicator),
        sends=found.call.op.startswith("send"),
    )


def _batch_peers(entries: Entries, rows: Ints, communicator: Communicator) -> tuple[int, ...]:
    """The global ranks at the other ends of the first batch (sends and receives posted as one)."""
    first = rows[0]
    batch = rows[entries.p2p_seq[rows] == entries.p2p_seq[first]]
    size = len(communicator.ranks)
    peers = {int(communicator.ranks[p]) for p in entries.peer[batch] if 0 <= p < size}
    return tuple(sorted(peers))


def _hosts(dumps: Sequence[RankDump], placement: Placement) -> dict[int, str]:
    """Where each rank runs: the placement's word, else what named its dump."""
    hosts = {dump.rank: dump.host for dump in dumps if dump.host}
    return hosts | {place.rank: place.host for place in placement.places}


def _notes(
    dumps: Sequence[RankDump], members: Membership, communicators: Sequence[Communicator]
) -> tuple[str, ...]:
    notes = []
    if len({dump.version for dump in dumps}) > 1:
        notes.append("dumps of different versions are compared; only what all have is used")
    if members.inferred:
        notes.append(
            f"{len(members.inferred)} of {len(communicators)} groups name no ranks; their members "
            "are taken from the entries"
        )
    if dumps and not any(finished(dump.entries).any() for dump in dumps):
        notes.append("the dumps hold active operations only; counters fill in what is finished")
    return tuple(notes)
