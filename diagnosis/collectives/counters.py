"""From counters alone to collective progress: in which collective each rank waits.

Counters tell no order between communicators. Where a rank has several operations open it waits,
first of all, in one that a member has not arrived at: the others are further down its queue.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from diagnosis.core.collectives import (
    NOT_KNOWN,
    Bools,
    CollectiveProgress,
    Communicator,
    Ints,
    OpenOperation,
    Signature,
)
from diagnosis.core.live_progress import (
    CommCounters,
    LiveProgress,
    ProgressBatch,
    no_counters,
)
from diagnosis.core.placement import Placement

#: What a rank waits in, as far as counters tell it, and where that was read.
COLLECTIVE, STEP, P2P = Signature("collective"), Signature("step"), Signature("send or receive")
SOURCE = "progress reports"
STEPS = "training steps"
#: Operations by which members of a communicator can be apart while all of them are collectives.
LARGEST_LEAD = 8


def collective_progress(
    live: LiveProgress, placement: Placement, *, fresh: Bools
) -> CollectiveProgress:
    """The progress of the ranks whose reports are `fresh`, over all that are known of.

    Where no rank tells of communicators, the job's steps stand in for one that spans them all.
    """
    reported = live.ranks[fresh]
    communicators = tuple(_communicators(live, reported))
    if not communicators and (steps := step_marks(live, fresh)) is not None:
        communicators = (steps,)
    operation = COLLECTIVE if len(live.counters) else STEP
    waiting, open_in = _waits(communicators, operation)
    world = np.union1d(live.ranks, np.fromiter(placement.by_rank, np.int64, len(placement)))
    return CollectiveProgress(
        communicators=communicators,
        waiting=waiting,
        open_in=open_in,
        world=tuple(world.tolist()),
        reported=frozenset(reported.tolist()),
        hosts={place.rank: place.host for place in placement.places},
    )


def asked_progress(answer: CollectiveProgress) -> CollectiveProgress:
    """An answer that was asked for (NCCL RAS), with the operation that each rank waits in."""
    waiting, open_in = _waits(answer.communicators, COLLECTIVE)
    return replace(answer, waiting=waiting, open_in=open_in)


def as_batch(progress: CollectiveProgress, time: float) -> ProgressBatch:
    """A progress that was asked for (NCCL RAS) as the reports of the ranks that answered."""
    ranks = np.array(sorted(progress.reported), np.int64)
    columns: list[tuple[Ints, ...]] = []
    for index, one in enumerate(progress.communicators):
        told = one.reported
        number = np.full(int(told.sum()), index, np.int64)
        columns.append(
            (number, one.ranks[told], one.enqueued[told], one.started[told], one.completed[told])
        )
    none = np.full(len(ranks), NOT_KNOWN, np.int64)
    joined = [np.concatenate(column) for column in zip(*columns, strict=True)]
    names = tuple(communicator.name for communicator in progress.communicators)
    return ProgressBatch(
        time=time,
        ranks=ranks,
        step=none,
        phase=np.zeros_like(ranks),
        told_comms=np.ones(len(ranks), np.bool_),
        counters=CommCounters(names, *joined) if joined else no_counters(),
    )


def _communicators(live: LiveProgress, reported: Ints) -> Iterator[Communicator]:
    counters = live.counters
    edges = np.searchsorted(counters.comm, np.arange(len(counters.names) + 1))
    for index, name in enumerate(counters.names):
        rows = slice(edges[index], edges[index + 1])
        ranks = counters.rank[rows]
        speaks = np.isin(ranks, reported)
        completed = np.where(speaks, counters.completed[rows], NOT_KNOWN)
        yield Communicator(
            name=name,
            desc="",
            ranks=ranks,
            enqueued=np.where(speaks, counters.enqueued[rows], NOT_KNOWN),
            started=np.where(speaks, counters.started[rows], NOT_KNOWN),
            completed=completed,
            reported=speaks,
            has_p2p=_is_uneven(completed),
        )


def step_marks(live: LiveProgress, fresh: Bools) -> Communicator | None:
    """The ranks' steps as one communicator that spans them; None where nobody tells a step."""
    told = live.step != NOT_KNOWN
    if not told.any():
        return None
    unknown = np.full(int(told.sum()), NOT_KNOWN, np.int64)
    return Communicator(
        name="",
        desc=STEPS,
        ranks=live.ranks[told],
        enqueued=np.where(fresh, live.step, NOT_KNOWN)[told],
        started=unknown,
        completed=unknown,
        reported=fresh[told],
    )


@dataclass(frozen=True, slots=True)
class _Wait:
    """A rank's open operation, how many members have not arrived at it, and its peers if P2P."""

    communicator: int
    seq: int
    missing: int
    peers: tuple[int, ...] = ()


def _waits(
    communicators: tuple[Communicator, ...], call: Signature
) -> tuple[Mapping[int, OpenOperation], Mapping[tuple[int, int], OpenOperation]]:
    found: dict[int, list[_Wait]] = {}
    for index, communicator in enumerate(communicators):
        for rank, wait in _waits_in(index, communicator):
            found.setdefault(rank, []).append(wait)
    waiting: dict[int, OpenOperation] = {}
    open_in: dict[tuple[int, int], OpenOperation] = {}
    for rank, waits in found.items():
        for wait in waits:
            open_in[wait.communicator, rank] = _operation(rank, wait, call)
        first = min(waits, key=lambda wait: (wait.missing == 0, wait.missing, wait.communicator))
        waiting[rank] = open_in[first.communicator, rank]
    return waiting, open_in


def _waits_in(index: int, communicator: Communicator) -> Iterator[tuple[int, _Wait]]:
    reach, seq, is_open = _open_at(communicator)
    ordered = np.sort(reach)
    members = communicator.ranks.tolist()
    for place in np.flatnonzero(is_open).tolist():
        rank, at = members[place], int(seq[place])
        if communicator.has_p2p:
            peers = tuple(member for member in members if member != rank)
            yield rank, _Wait(index, at, int(np.count_nonzero(~is_open)), peers)
        else:
            yield rank, _Wait(index, at, int(np.searchsorted(ordered, at)))


def _open_at(communicator: Communicator) -> tuple[Ints, Ints, Bools]:
    """How far each member has arrived, the operation it would wait in, and whether it does.

    What the GPU has begun counts where it is told, else what the host has launched. Without
    completions (RAS, steps) those at the front wait for whoever is behind them.
    """
    started = communicator.started
    reach = np.where(started != NOT_KNOWN, started, communicator.enqueued)
    counts = communicator.completed != NOT_KNOWN
    front = int(reach.max(initial=NOT_KNOWN))
    behind = bool((reach < front).any())
    seq = np.where(counts, communicator.completed + 1, reach)
    is_open = np.where(counts, reach > communicator.completed, behind & (reach == front))
    return reach, seq, np.asarray(is_open & communicator.reported, np.bool_)


def _is_uneven(completed: Ints) -> bool:
    """Members complete collectives nearly alike; sends and receives each counts for itself."""
    told = completed[completed != NOT_KNOWN]
    return bool(len(told) and told.max() - told.min() > LARGEST_LEAD)


def _operation(rank: int, wait: _Wait, call: Signature) -> OpenOperation:
    return OpenOperation(
        rank=rank,
        communicator=wait.communicator,
        seq=wait.seq,
        call=P2P if wait.peers else call,
        record_id=wait.seq,
        source=SOURCE,
        peers=wait.peers,
    )
