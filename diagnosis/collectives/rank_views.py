"""One dump by communicator: the counters of its rank, and the rows that it has not finished."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from diagnosis.collectives.membership import GroupKey, Membership
from diagnosis.collectives.operations import BACKENDS_WITHOUT_EVENTS
from diagnosis.core.collectives import (
    NOT_KNOWN,
    Bools,
    Counters,
    Entries,
    Ints,
    OpState,
    RankDump,
)

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class RankView:
    """One rank's share in one communicator: its counters and the rows it has not finished."""

    counters: Counters
    rows: Ints
    open_collectives: Ints
    open_p2p: Ints
    has_p2p: bool


def finished(entries: Entries) -> Bools:
    """Which operations are over: completed, or retired on backends that record nothing else."""
    done = entries.state == OpState.COMPLETED
    blind = _rows_where(entries.backend, entries.backends, BACKENDS_WITHOUT_EVENTS.__contains__)
    return np.where(blind, entries.retired, done) if blind.any() else done


def _rows_where(column: Ints, table: Sequence[_Value], accepts: Callable[[_Value], bool]) -> Bools:
    """Which rows of a column point at a value of its table that is accepted."""
    accepted = np.fromiter(map(accepts, table), np.bool_, len(table))
    return accepted[column] if len(table) else np.zeros(len(column), np.bool_)


def views_of_dump(dump: RankDump, members: Membership, done: Bools) -> dict[GroupKey, RankView]:
    """One dump by its groups; `done` says which of its rows are over."""
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
    batches = _rows_where(calls, entries.calls, lambda call: call.op == "coalesced")
    if batches.any():
        left = ~np.isin(entries.p2p_seq[rows], entries.p2p_seq[rows[done[rows] & batches]])
        rows, calls = rows[left], calls[left]
    sends = _rows_where(calls, entries.calls, lambda call: call.op.startswith("send"))
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
