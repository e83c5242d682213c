"""Who waits for whom from counter arrays alone: per rank and group the last launched and completed.

The same graph as `wait_graph` builds from single operations, in arrays over all memberships, so
that 16,384 ranks take a fraction of a second. A member's position in a communicator is the
operation it is in: the one after its last completed, if it has launched that. Whoever has launched
an operation that a member has not come to waits for that member.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from diagnosis.collectives.wait_graph import Sink, Standing, WaitGraph
from diagnosis.core.collectives import (
    NOT_KNOWN,
    Bools,
    Communicator,
    Ints,
    OpenOperation,
    Signature,
    WaitEdge,
)

#: What a rank waits in, as far as counters tell it.
COLLECTIVE = Signature("collective")

_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Memberships:
    """One row a membership, in the order of communicators; `rank` indexes `world`.

    `at` is the operation that a member is in (-1 where nobody speaks for it), `seq` the one it
    waits in where `is_open`.
    """

    world: Ints
    starts: Ints
    comm: Ints
    rank: Ints
    at: Ints
    seq: Ints
    is_open: Bools
    completed: Ints
    reported: Bools

    def least(self, values: Ints, where: Bools) -> Ints:
        """Per communicator the least value of the chosen rows, `_FAR` where there is none."""
        return np.minimum.reduceat(np.where(where, values, _FAR), self.starts)

    def most(self, values: Ints, where: Bools) -> Ints:
        return np.maximum.reduceat(np.where(where, values, NOT_KNOWN), self.starts)

    def of_rank(self, rows: Bools) -> Bools:
        """Which ranks have at least one of the rows."""
        return np.bincount(self.rank[rows], minlength=len(self.world)) > 0


def memberships(communicators: Sequence[Communicator]) -> Memberships:
    """All rows; communicators with sends and receives count unevenly and are left out."""
    kept = [(n, c) for n, c in enumerate(communicators) if not c.has_p2p and len(c.ranks) > 1]
    if not kept:
        none, no = np.zeros(0, np.int64), np.zeros(0, np.bool_)
        return Memberships(none, none, none, none, none, none, no, none, no)
    sizes = [len(c.ranks) for _, c in kept]
    starts = np.r_[0, np.cumsum(sizes[:-1])].astype(np.int64)
    ranks, enqueued, started, completed = (
        np.concatenate([getattr(c, name) for _, c in kept])
        for name in ("ranks", "enqueued", "started", "completed")
    )
    reported = np.concatenate([c.reported for _, c in kept])
    world, rank = np.unique(ranks, return_inverse=True)
    reach = np.where(started != NOT_KNOWN, started, enqueued)
    ends = completed != NOT_KNOWN
    least = np.repeat(np.minimum.reduceat(np.where(reported, reach, _FAR), starts), sizes)
    is_open = np.where(ends, reach > completed, reach > least) & reported
    return Memberships(
        world=world,
        starts=starts,
        comm=np.repeat(np.asarray([n for n, _ in kept]), sizes),
        rank=rank,
        at=np.where(reported, np.where(ends, np.minimum(reach, completed + 1), reach), NOT_KNOWN),
        seq=np.where(ends, completed + 1, reach),
        is_open=is_open,
        completed=completed,
        reported=reported,
    )


@dataclass(frozen=True)
class SummaryGraph:
    """The wait graph of counters, and the operation that each waiting rank stands in."""

    graph: WaitGraph
    waiting: Mapping[int, OpenOperation]


def summary_graph(
    communicators: Sequence[Communicator], *, impossible_lead: int, source: str
) -> SummaryGraph:
    """The graph; `source` names the evidence in findings. Circles hold no call order."""
    rows = memberships(communicators)
    if not len(rows.rank):
        return SummaryGraph(WaitGraph((), (), frozenset(), (), ()), {})
    sizes = np.diff(np.r_[rows.starts, len(rows.rank)])
    everyone = np.ones(len(rows.rank), np.bool_)
    waits = rows.is_open & (rows.seq > np.repeat(rows.least(rows.at, everyone), sizes))
    awaited = rows.at < np.repeat(rows.most(rows.seq, waits), sizes)
    blocked = rows.of_rank(waits)
    ends = rows.of_rank(awaited) & ~blocked
    circling = blocked & ~_upstream(rows, sizes, waits, ends)
    core = _core(rows, sizes, waits, circling)
    sinks = [
        _sink(rows, int(place), waits=waits, awaited=awaited, impossible_lead=impossible_lead)
        for place in np.flatnonzero(ends)
    ]
    graph = WaitGraph(
        edges=tuple(dict.fromkeys(sink.edge for sink in sinks)),
        sinks=tuple(sinks),
        blocked=frozenset(rows.world[blocked].tolist()),
        cycle=tuple(rows.world[core].tolist()),
        trapped=tuple(rows.world[circling & ~core].tolist()),
    )
    return SummaryGraph(graph, _waiting(rows, waits, source))


def _upstream(rows: Memberships, sizes: Ints, waits: Bools, ends: Bools) -> Bools:
    """The ends and every rank that waits for them, directly or through others."""
    reached = ends.copy()
    while True:
        nearest = np.repeat(rows.least(rows.at, reached[rows.rank]), sizes)
        more = rows.of_rank(waits & (rows.seq > nearest)) & ~reached
        if not more.any():
            return reached
        reached |= more


def _core(rows: Memberships, sizes: Ints, waits: Bools, circling: Bools) -> Bools:
    """The ranks of the circle itself: without those that only wait for it."""
    core = circling.copy()
    while core.any():
        farthest = np.repeat(rows.most(rows.seq, waits & core[rows.rank]), sizes)
        left = core & rows.of_rank(rows.at < farthest)
        if (left == core).all():
            break
        core = left
    return core


def _sink(
    rows: Memberships, place: int, *, waits: Bools, awaited: Bools, impossible_lead: int
) -> Sink:
    own = np.flatnonzero(rows.rank == place)
    missed = own[awaited[own]]
    row = int(missed[np.argmin(rows.at[missed])])
    rank = int(rows.world[place])
    members = rows.comm == rows.comm[row]
    waiters = members & waits & (rows.seq > rows.at[row])
    seq = int(rows.seq[waiters].min())
    blockers = members & (rows.at < seq)
    edge = WaitEdge(
        communicator=int(rows.comm[row]),
        seq=seq,
        waiters=tuple(rows.world[rows.rank[waiters & (rows.seq == seq)]].tolist()),
        blockers=tuple(rows.world[rows.rank[blockers]].tolist()),
    )
    if not rows.reported[own].any():
        return Sink(rank, Standing.ABSENT, edge)
    stuck = own[rows.is_open[own]]
    if not len(stuck):
        return Sink(rank, Standing.OUTSIDE, edge, lead=1)
    lead = max(_lead(rows, int(one)) for one in stuck)
    if lead >= impossible_lead:
        return Sink(rank, Standing.OVERTAKEN, edge, lead)
    return Sink(rank, Standing.LAGGING if lead > 0 else Standing.TOGETHER, edge, lead)


def _lead(rows: Memberships, row: int) -> int:
    """How many operations the farthest member has completed from this open one on."""
    farthest = int(rows.completed[rows.comm == rows.comm[row]].max())
    return max(0, farthest - int(rows.seq[row]) + 1)


def _waiting(rows: Memberships, waits: Bools, source: str) -> "WaitingRanks":
    """Per rank the open operation that lacks a member, else any; the first communicator's first."""
    found = np.flatnonzero(rows.is_open)
    order = np.lexsort((rows.comm[found], ~waits[found], rows.rank[found]))
    found = found[order]
    first = np.r_[True, np.diff(rows.rank[found]) != 0] if len(found) else found.astype(np.bool_)
    found = found[first]
    ranks = rows.world[rows.rank[found]].tolist()
    row = dict(zip(ranks, found.tolist(), strict=True))
    return WaitingRanks(row, rows.comm, rows.seq, source)


@dataclass(frozen=True)
class WaitingRanks(Mapping[int, OpenOperation]):
    """Rank → the operation that it waits in, made when it is asked for: few ranks of many are.

    `row` holds the rank's place in the columns `comm` and `seq`.
    """

    row: Mapping[int, int]
    comm: Ints
    seq: Ints
    source: str

    def __getitem__(self, rank: int) -> OpenOperation:
        row = self.row[rank]
        seq = int(self.seq[row])
        return OpenOperation(rank, int(self.comm[row]), seq, COLLECTIVE, seq, self.source)

    def __iter__(self) -> Iterator[int]:
        return iter(self.row)

    def __len__(self) -> int:
        return len(self.row)
