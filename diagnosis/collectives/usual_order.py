"""Who in a circle of waits left the order of calls that the rest of the job keeps.

A rank waits in one operation for a rank that stands in another: either the one came to its
operation too early, or the other left it out. What most ranks do first tells which, since those of
one kind of communicator (all tensor groups, all data groups) make the same calls in the same order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from diagnosis.collectives.merge import Merged
from diagnosis.collectives.operations import comparable
from diagnosis.collectives.rank_views import RankView
from diagnosis.core.collectives import NOT_KNOWN, Communicator, OpenOperation, Signature

#: Ranks that are asked for their order at most, spread over all.
_MOST_ASKED = 512
#: Where a call stands in a rank's order that its ring no longer holds, or that it has not made.
_LONG_AGO, _NOT_YET = -1, np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class _Place:
    """One operation as all ranks of its kind make it: the kind, its number, and the call."""

    communicator: int
    kind: tuple[str, int]
    seq: int
    call: Signature


def out_of_order(merged: Merged, cycle: Sequence[int]) -> list[int]:
    """The ranks of a circle whose order differs from what most do; empty where nothing tells."""
    asked = _Order(merged)
    waiting = merged.progress.waiting
    places: dict[_Place, list[int]] = {}
    for rank in cycle:
        if not waiting[rank].peers:
            places.setdefault(asked.place_of(waiting[rank]), []).append(rank)
    odd: set[int] = set()
    for awaited, waiters in places.items():
        members = merged.progress.communicators[awaited.communicator].index_of_rank
        for other, standing in places.items():
            blockers = [rank for rank in standing if rank in members and other != awaited]
            early = [rank for rank in waiters if asked.comes_first(rank, awaited, other) is True]
            late = [rank for rank in blockers if asked.comes_first(rank, other, awaited) is True]
            if early and late and (usual := asked.usually_first(awaited, other)) is not None:
                odd.update(late if usual else early)
    return sorted(odd)


class _Order:
    """Which of two operations ranks call first."""

    def __init__(self, merged: Merged) -> None:
        self._merged = merged
        self._kinds = [_kind(communicator) for communicator in merged.progress.communicators]
        step = max(1, len(merged.dumps) // _MOST_ASKED)
        self._asked = [dump.rank for dump in merged.dumps[::step]]
        self._entries = {dump.rank: dump.entries for dump in merged.dumps}
        self.usually_first = cache(self._usually_first)

    def place_of(self, operation: OpenOperation) -> _Place:
        index = operation.communicator
        return _Place(index, self._kinds[index], operation.seq, comparable(operation.call))

    def comes_first(self, rank: int, one: _Place, other: _Place) -> bool | None:
        """Does this rank call `one` before `other`? None where its dump does not tell."""
        at, then = self._position(rank, one), self._position(rank, other)
        return None if at is None or then is None or at == then else at < then

    def _usually_first(self, one: _Place, other: _Place) -> bool | None:
        votes = [self.comes_first(rank, one, other) for rank in self._asked]
        before, after = votes.count(True), votes.count(False)
        return None if before == after else before > after

    def _position(self, rank: int, place: _Place) -> int | None:
        views = [
            (index, view)
            for index, view in self._merged.views_of.get(rank, ())
            if self._kinds[index] == place.kind
        ]
        own = [view for index, view in views if index == place.communicator]
        at = [self._row(rank, view, place) for view in own or [view for _, view in views]]
        found = {position for position in at if position is not None}
        return found.pop() if len(found) == 1 else None

    def _row(self, rank: int, view: RankView, place: _Place) -> int | None:
        """Where the call stands in the rank's order; None where it made another one instead."""
        entries = self._entries[rank]
        seqs = entries.seq[view.rows]
        at = int(np.searchsorted(seqs, place.seq))
        if at < len(seqs) and seqs[at] == place.seq:
            row = int(view.rows[at])
            same = comparable(entries.calls[int(entries.call[row])]) == place.call
            return int(entries.record_id[row]) if same else None
        if view.counters.enqueued == NOT_KNOWN:
            return _NOT_YET
        return _LONG_AGO if view.counters.enqueued >= place.seq else _NOT_YET


def _kind(communicator: Communicator) -> tuple[str, int]:
    """`TP_0` and `TP_1` of four ranks each are of one kind."""
    desc = "".join(one for one in communicator.desc if not one.isdigit())
    return desc, len(communicator.ranks)
