"""Of several ranks that no source speaks for: which stopped first, as the waits of others tell.

A silent rank stands in one of the operations that wait for it, or before. The order of operations
is seen on the ranks that do speak: who stands in one and is awaited in another does the first one
before the second. Operations are compared by the kind of their communicator, since the tensor
groups of a job, and those that tie its first and last stage, do the same work in the same order.
"""

from collections.abc import Collection, Mapping, Sequence

from diagnosis.collectives.wait_graph import WaitGraph
from diagnosis.core.collectives import CollectiveProgress, Communicator, WaitEdge

#: An operation in a kind of communicator: the kind, and the sequence number.
_Place = tuple[str, int]


def implicated(
    progress: CollectiveProgress, graph: WaitGraph, absent: Collection[int]
) -> Mapping[int, float]:
    """How much speaks against each rank that no source speaks for, in all at most 1.

    Where only such ranks are waited for, one of them must be to blame: the fewer they are, the
    more. Not so where any of them may as well stand in an earlier operation, as its like do, or
    beside others that wait themselves: those are likely victims.
    """
    silent = frozenset(absent)
    order = _Order(progress, graph.edges, silent)
    alone = [
        edge
        for edge in graph.edges
        if edge.blockers and not edge.p2p and silent.issuperset(edge.blockers)
    ]
    unexplained = [edge for edge in alone if order.is_first(edge)]
    weights: dict[int, float] = dict.fromkeys(absent, 0.0)
    for edge in unexplained or alone:
        for rank in edge.blockers:
            weights[rank] += 1 / len(edge.blockers)
    whole = sum(weights.values())
    if not whole:
        return dict.fromkeys(absent, 1 / max(1, len(absent)))
    return {rank: weight / whole for rank, weight in weights.items()}


class _Order:
    """Which operations come before which in the programs of the ranks that speak."""

    def __init__(
        self, progress: CollectiveProgress, edges: Sequence[WaitEdge], silent: frozenset[int]
    ) -> None:
        self._kinds = [_kind(communicator) for communicator in progress.communicators]
        self._kinds_of: dict[int, set[str]] = {rank: set() for rank in silent}
        for kind, communicator in zip(self._kinds, progress.communicators, strict=True):
            for rank in silent.intersection(communicator.ranks.tolist()):
                self._kinds_of[rank].add(kind)
        stands_in = {rank: self._place(edge) for edge in edges for rank in edge.waiters}
        self._before: dict[_Place, set[_Place]] = {}
        for edge in edges:
            earlier = {stands_in[rank] for rank in edge.blockers if rank in stands_in}
            self._before.setdefault(self._place(edge), set()).update(earlier)

    def is_first(self, edge: WaitEdge) -> bool:
        """Is no operation in which one of its silent ranks can stand known to come before?"""
        place = self._place(edge)
        earlier = {
            kind for kind, seq in self._before[place] if place not in self._before[kind, seq]
        }
        return all(earlier.isdisjoint(self._kinds_of[rank]) for rank in edge.blockers)

    def _place(self, edge: WaitEdge) -> _Place:
        return self._kinds[edge.communicator], edge.seq


def _kind(communicator: Communicator) -> str:
    """`TP_0` and `TP_1` are of one kind; a group without a description is one of its own."""
    desc = "".join(one for one in communicator.desc if not one.isdigit())
    return desc or f"{communicator.name} {communicator.ranks[:1]}"
