"""Who waits for whom: from each rank's oldest open operation to the members that are not in it.

The cause is a sink: a rank that others wait for and that itself waits for nobody. Everything
upstream is a victim. A cycle has no sink and is a deadlock by call order.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from diagnosis.collectives.operations import is_rooted
from diagnosis.core.collectives import (
    NOT_KNOWN,
    CollectiveProgress,
    Communicator,
    OpenOperation,
    OpState,
    WaitEdge,
)


class Standing(StrEnum):
    """Why a sink waits for nobody."""

    ABSENT = "absent"
    OUTSIDE = "outside"
    OVERTAKEN = "overtaken"
    IDLE = "idle"
    LAGGING = "lagging"
    TOGETHER = "together"


@dataclass(frozen=True, slots=True)
class Sink:
    """A rank that others wait for, while it waits for nobody.

    ABSENT: no source speaks for it. OUTSIDE: nothing is open on it, it has not arrived. OVERTAKEN:
    peers completed at least `impossible_lead` operations more than it did, which only a GPU that
    stopped explains. IDLE: its host launched what its peers have started, its GPU has not come to
    it. LAGGING: it is one operation behind. TOGETHER: everyone has arrived where it
    waits. `lead` is how many operations the farthest peer has completed beyond it.
    """

    rank: int
    standing: Standing
    edge: WaitEdge
    lead: int = 0
    stale: bool = False


@dataclass(frozen=True, slots=True)
class WaitGraph:
    """The wait edges, the sinks with those that wait for each, and the ranks of cycles.

    `blocked` are all ranks that wait for somebody; `cycle` holds the ranks that wait in a circle
    which leads to no sink, `trapped` those that only wait for the circle.
    """

    edges: tuple[WaitEdge, ...]
    sinks: tuple[Sink, ...]
    blocked: frozenset[int]
    cycle: tuple[int, ...]
    trapped: tuple[int, ...]

    @property
    def is_circular(self) -> bool:
        """Is there a circle, and nobody who did not arrive, which would explain more?"""
        gone = {Standing.OUTSIDE, Standing.OVERTAKEN, Standing.IDLE}
        somebody = any(sink.standing in gone and not sink.stale for sink in self.sinks)
        return bool(self.cycle) and not somebody


def wait_edges(progress: CollectiveProgress) -> tuple[WaitEdge, ...]:
    """One edge per operation that somebody waits in; `blockers` is empty when all have arrived.

    Where recorders tell of starts, a GPU that has not started what a peer's has is waited for.
    """
    waiters: dict[tuple[int, int], list[int]] = {}
    edges: list[WaitEdge] = []
    for rank, operation in sorted(progress.waiting.items()):
        if operation.peers:
            edges.append(_p2p_edge(operation, progress.waiting))
        else:
            waiters.setdefault((operation.communicator, operation.seq), []).append(rank)
    for (index, seq), standing in sorted(waiters.items()):
        communicator = progress.communicators[index]
        ranks = _started(standing, progress.waiting)
        not_past = ~(communicator.completed >= seq)
        blockers = communicator.ranks[not_past & ~np.isin(communicator.ranks, ranks)]
        edges.append(WaitEdge(index, seq, tuple(ranks), tuple(int(rank) for rank in blockers)))
    return tuple(edges)


def _started(ranks: list[int], waiting: Mapping[int, OpenOperation]) -> list[int]:
    """Those of the ranks in one operation that wait in it: all, where nobody's start is told."""
    if not any(waiting[rank].state is OpState.STARTED for rank in ranks):
        return ranks
    return [rank for rank in ranks if not waiting[rank].is_idle]


def _p2p_edge(operation: OpenOperation, waiting: Mapping[int, OpenOperation]) -> WaitEdge:
    """A peer that stands in the matching send or receive is no blocker: both have arrived."""
    blockers = []
    for peer in operation.peers:
        other = waiting.get(peer)
        meets = (
            other is not None
            and other.communicator == operation.communicator
            and operation.rank in other.peers
            and not (other.is_idle and operation.state is OpState.STARTED)
        )
        if not meets and peer != operation.rank:
            blockers.append(peer)
    return WaitEdge(
        operation.communicator, operation.seq, (operation.rank,), tuple(blockers), p2p=True
    )


def wait_graph(
    progress: CollectiveProgress, impossible_lead: int, *, arrived: Collection[int] = ()
) -> WaitGraph:
    """The graph of a progress; see `WaitGraph`. `arrived` are ranks that nobody is to wait for."""
    edges = wait_edges(progress)
    if arrived:
        edges = tuple(
            replace(edge, blockers=tuple(rank for rank in edge.blockers if rank not in arrived))
            for edge in edges
        )
    blocked = {rank for edge in edges if edge.blockers for rank in edge.waiters}
    awaited = {rank for edge in edges for rank in edge.blockers}
    ends = awaited - blocked
    explained = _upstream(edges, ends)
    circling = blocked - explained
    cycle = _core(edges, circling)
    return WaitGraph(
        edges=edges,
        sinks=tuple(_sink(rank, progress, edges, impossible_lead) for rank in sorted(ends)),
        blocked=frozenset(blocked),
        cycle=tuple(sorted(cycle)),
        trapped=tuple(sorted(circling - cycle)),
    )


def _upstream(edges: Sequence[WaitEdge], ends: Iterable[int]) -> set[int]:
    """The ends and everyone who waits for them, directly or through others."""
    reached = set(ends)
    left = [edge for edge in edges if edge.blockers]
    while True:
        later: list[WaitEdge] = []
        hit: list[WaitEdge] = []
        for edge in left:
            (later if reached.isdisjoint(edge.blockers) else hit).append(edge)
        if not hit:
            return reached
        for edge in hit:
            reached.update(edge.waiters)
        left = later


def _core(edges: Sequence[WaitEdge], circling: set[int]) -> set[int]:
    """The ranks of the circle itself: without those that only wait for it."""
    core = set(circling)
    while True:
        awaited = {
            rank for edge in edges if core.intersection(edge.waiters) for rank in edge.blockers
        }
        if core <= awaited:
            return core
        core &= awaited


def _sink(
    rank: int, progress: CollectiveProgress, edges: Sequence[WaitEdge], impossible_lead: int
) -> Sink:
    edge = min(
        (edge for edge in edges if rank in edge.blockers), key=lambda e: _first_missed(e, progress)
    )
    if rank not in progress.reported:
        return Sink(rank, Standing.ABSENT, edge)
    stale = is_stale(rank, progress)
    operation = progress.waiting.get(rank)
    if operation is None:
        return Sink(rank, Standing.OUTSIDE, edge, lead=1, stale=stale)
    lead = max(
        _lead(progress.communicators[index], found)
        for (index, other), found in _open_of(rank, operation, progress)
        if other == rank
    )
    if lead >= impossible_lead:
        stale = stale or all(
            _launched_less(progress.communicators[index], rank, impossible_lead)
            for (index, _), found in _open_of(rank, operation, progress)
            if _lead(progress.communicators[index], found) >= impossible_lead
        )
        return Sink(rank, Standing.OVERTAKEN, edge, lead, stale)
    if operation.is_idle and operation.communicator == edge.communicator:
        return Sink(rank, Standing.IDLE, edge, lead, stale)
    standing = Standing.LAGGING if lead > 0 else Standing.TOGETHER
    return Sink(rank, standing, edge, lead, stale)


def overtaken(progress: CollectiveProgress, impossible_lead: int) -> frozenset[int]:
    """Ranks that stand in an operation which a peer left behind by the impossible lead.

    No member of a collective can complete it without the others: either such a rank's counters are
    older than its peers', or its GPU or watchdog stopped telling of them.
    """
    return frozenset(
        rank
        for (index, rank), operation in progress.open_in.items()
        if _lead(progress.communicators[index], operation) >= impossible_lead
    )


def _first_missed(edge: WaitEdge, progress: CollectiveProgress) -> tuple[int, int, int]:
    """Orders edges by when their first waiter launched: that is where the rank was due first."""
    launched = min(progress.waiting[rank].created_ns for rank in edge.waiters)
    return launched, -len(edge.waiters), edge.communicator


def _open_of(
    rank: int, operation: OpenOperation, progress: CollectiveProgress
) -> list[tuple[tuple[int, int], OpenOperation]]:
    found = [(key, item) for key, item in progress.open_in.items() if key[1] == rank]
    return found or [((operation.communicator, rank), operation)]


def _lead(communicator: Communicator, operation: OpenOperation) -> int:
    """How many operations the farthest member has completed from this open one on."""
    if operation.peers or is_rooted(operation.call.op):
        return 0
    return max(0, int(communicator.completed.max(initial=NOT_KNOWN)) - operation.seq + 1)


def _launched_less(communicator: Communicator, rank: int, impossible_lead: int) -> bool:
    """Has its host, too, fallen behind its peers' by that much? Then it was asked earlier.

    A host does not wait for its GPU to launch: behind a GPU that stopped it runs as far ahead as
    its peers do.
    """
    mine = int(communicator.enqueued[communicator.index_of_rank[rank]])
    return int(communicator.enqueued.max()) - mine >= impossible_lead


def is_stale(rank: int, progress: CollectiveProgress) -> bool:
    """Peers have completed what this rank had not even launched: its counters are older.

    One operation of tolerance: backends without events count a failed operation as completed.
    """
    for communicator in progress.communicators:
        index = communicator.index_of_rank.get(rank)
        if index is None or communicator.has_p2p:
            continue
        enqueued = int(communicator.enqueued[index])
        if enqueued != NOT_KNOWN and int(communicator.completed.max()) > enqueued + 1:
            return True
    return False
