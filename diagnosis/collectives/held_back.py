"""Waiting ranks whose host stopped before its peers' did: perhaps further faults of their own."""

from collections.abc import Mapping, Sequence

import numpy as np

from diagnosis.collectives.wait_graph import WaitGraph
from diagnosis.core.collectives import Bools, CollectiveProgress, Communicator, Ints, OpenOperation

#: Members of a communicator below which no majority tells who ran less far ahead.
_FEWEST_MEMBERS = 3


def held_back(progress: CollectiveProgress, graph: WaitGraph) -> tuple[int, ...]:
    """The ranks, ascending.

    Hosts launch ahead of their GPUs. Members of one communicator that wait in the same call run
    equally far ahead; a minority that launched less there has stopped launching by itself.
    """
    uneven = _uneven([c for c in progress.communicators if _is_compared(c)], graph.blocked)
    if not uneven:
        return ()
    rank = np.concatenate([c.ranks for c in uneven])
    launched = np.concatenate([c.enqueued for c in uneven])
    comm = np.repeat(np.arange(len(uneven)), [len(c.ranks) for c in uneven])
    call = _calls(rank, progress.waiting, graph.blocked)
    waits = call >= 0
    rank, launched = rank[waits], launched[waits]
    if not len(rank):
        return ()
    alike = comm[waits] * (int(call.max()) + 1) + call[waits]
    return tuple(np.unique(rank[_minority_behind(alike, launched)]).tolist())


def _is_compared(communicator: Communicator) -> bool:
    return not communicator.has_p2p and len(communicator.ranks) >= _FEWEST_MEMBERS


def _uneven(communicators: Sequence[Communicator], blocked: frozenset[int]) -> list[Communicator]:
    """Those in which a rank that waits for others launched less than the most that one did."""
    if not communicators:
        return []
    sizes = [len(c.ranks) for c in communicators]
    starts = np.r_[0, np.cumsum(sizes[:-1])].astype(np.int64)
    launched = np.concatenate([c.enqueued for c in communicators])
    behind = np.flatnonzero(launched < np.repeat(np.maximum.reduceat(launched, starts), sizes))
    ranks = np.concatenate([c.ranks for c in communicators])[behind].tolist()
    waits = np.fromiter((rank in blocked for rank in ranks), np.bool_, len(ranks))
    kept = np.unique(np.searchsorted(starts, behind[waits], side="right") - 1)
    return [communicators[index] for index in kept.tolist()]


def _calls(ranks: Ints, waiting: Mapping[int, OpenOperation], blocked: frozenset[int]) -> Ints:
    """Per rank the number of the call that it waits in for others, -1 where it does not."""
    numbers: dict[tuple[str, int], int] = {}
    found: dict[int, int] = {}
    for rank in set(ranks.tolist()) & blocked:
        operation = waiting.get(rank)
        if operation is not None:
            call = operation.call.op, operation.seq
            found[rank] = numbers.setdefault(call, len(numbers))
    return np.fromiter((found.get(rank, -1) for rank in ranks.tolist()), np.int64, len(ranks))


def _minority_behind(alike: Ints, launched: Ints) -> Bools:
    """Rows below the most of their group, where those are at most a third of it."""
    groups, group = np.unique(alike, return_inverse=True)
    most = np.full(len(groups), np.iinfo(np.int64).min)
    np.maximum.at(most, group, launched)
    behind = launched < most[group]
    few = np.bincount(group[behind], minlength=len(groups)) <= np.bincount(group) // 3
    return np.asarray(behind & few[group], np.bool_)
