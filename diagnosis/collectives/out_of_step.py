"""Ranks whose sends and receives differ from those of their like in other pipelines.

The ranks at one place of all pipelines (groups of one kind and size) send and receive in the same
order. Who left out a send or receive, or made one more, meets its neighbours' next one with the
wrong call, or is already in a collective: both seem to wait for each other.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from diagnosis.collectives.merge import Merged
from diagnosis.collectives.rank_views import finished
from diagnosis.core.collectives import Communicator, Entries, Ints, OpenOperation

#: So many of its like have to agree with each other before a rank counts as out of step.
_FEWEST_LIKE = 2

#: Ranks that are looked at, and pipelines that each is compared with, at most.
_MOST_RANKS, _MOST_LIKE = 512, 32

#: How far a rank is in its pipeline: (sends?, the other end's place) of all parts of a batch, or
#: the number of its last batch. Empty where its dump does not tell.
_Step = tuple[tuple[int, int], ...]


def out_of_step(merged: Merged, ranks: Iterable[int]) -> list[int]:
    """Those of the ranks that stand where most of their like make another send or receive, or
    came there after fewer or more of them. Dumps of active operations only do not tell."""
    waiting = merged.progress.waiting
    standing = [waiting[rank] for rank in sorted(ranks) if rank in waiting]
    if len(standing) > _MOST_RANKS or not any(c.has_p2p for c in merged.progress.communicators):
        return []
    steps = _Steps(merged)
    return [operation.rank for operation in standing if steps.differ(operation)]


class _Steps:
    """How far ranks are in their pipelines."""

    def __init__(self, merged: Merged) -> None:
        self._merged = merged
        self._communicators = merged.progress.communicators
        self._kinds = [_kind(communicator) for communicator in self._communicators]
        self._of_kind: dict[tuple[str, int], list[int]] = {}
        for index, kind in enumerate(self._kinds):
            self._of_kind.setdefault(kind, []).append(index)
        self._entries = {
            dump.rank: dump.entries for dump in merged.dumps if finished(dump.entries).any()
        }

    def differ(self, operation: OpenOperation) -> bool:
        """Is the rank elsewhere in one of its pipelines than most of its like were there?"""
        rank = operation.rank
        pipelines = (
            [operation.communicator]
            if operation.peers
            else [
                index
                for index, view in self._merged.views_of.get(rank, ())
                if view.has_p2p and index != operation.communicator
            ]
        )
        return any(self._differs_in(index, operation) for index in pipelines)

    def _differs_in(self, pipeline: int, operation: OpenOperation) -> bool:
        own = self._step(operation.rank, pipeline, operation)
        beside = islice(self._like(pipeline, operation), _MOST_LIKE)
        like = Counter(self._step(rank, at, operation) for rank, at in beside)
        del like[()]
        if not own or not like:
            return False
        usual, most = like.most_common(1)[0]
        return most >= _FEWEST_LIKE and 2 * most > like.total() and usual != own

    def _like(self, pipeline: int, operation: OpenOperation) -> Iterator[tuple[int, int]]:
        """The ranks at the same place of other pipelines, each with its pipeline."""
        place = self._communicators[pipeline].index_of_rank[operation.rank]
        for index in self._of_kind[self._kinds[pipeline]]:
            if index != pipeline:
                yield int(self._communicators[index].ranks[place]), index

    def _step(self, rank: int, pipeline: int, operation: OpenOperation) -> _Step:
        entries = self._entries.get(rank)
        if entries is None:
            return ()
        name = self._communicators[pipeline].name
        numbers = [index for index, (group, _) in enumerate(entries.groups) if group == name]
        rows: Ints = np.flatnonzero(entries.is_p2p & np.isin(entries.group, numbers))
        if operation.peers:
            return _calls(entries, rows[entries.p2p_seq[rows] == operation.seq])
        reached = self._row_of(rank, operation)
        earlier = rows[rows < reached]
        return ((int(entries.p2p_seq[earlier[-1]]), 0),) if len(earlier) else ()

    def _row_of(self, rank: int, operation: OpenOperation) -> int:
        """Where the rank launched this collective, or that of its own group; 0 for nowhere."""
        kind = self._kinds[operation.communicator]
        entries = self._entries[rank]
        found = [
            int(view.rows[at])
            for index, view in self._merged.views_of.get(rank, ())
            if self._kinds[index] == kind
            and (at := int(np.searchsorted(entries.seq[view.rows], operation.seq))) < len(view.rows)
            and entries.seq[view.rows[at]] == operation.seq
            and entries.calls[int(entries.call[view.rows[at]])] == operation.call
        ]
        return found[0] if len(found) == 1 else 0


def _calls(entries: Entries, rows: Ints) -> _Step:
    parts = rows[entries.peer[rows] >= 0].tolist()
    sends = [entries.calls[int(entries.call[row])].op.startswith("send") for row in parts]
    return tuple(sorted(zip(sends, entries.peer[parts].tolist(), strict=True)))


def _kind(communicator: Communicator) -> tuple[str, int]:
    desc = "".join(one for one in communicator.desc if not one.isdigit())
    return desc, len(communicator.ranks)
