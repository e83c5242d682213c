"""The operations in which ranks stand, from the rows that they have not finished."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from diagnosis.collectives.rank_views import RankView
from diagnosis.core.collectives import (
    Communicator,
    Entries,
    Ints,
    OpenOperation,
    OpState,
    RankDump,
)


def open_operations(
    dumps: Sequence[RankDump],
    views: Mapping[tuple[int, int], RankView],
    communicators: Sequence[Communicator],
) -> tuple[dict[int, OpenOperation], dict[tuple[int, int], OpenOperation]]:
    """Rank → the first operation that it waits in; (communicator, rank) → its open collective."""
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
    batch = _batch(entries, rows)
    found = OpenOperation(
        rank=dump.rank,
        communicator=index,
        seq=int(entries.seq[row]),
        call=entries.calls[int(entries.call[row])],
        record_id=int(entries.record_id[row]),
        source=dump.source,
        state=OpState(int(entries.state[batch].max())),
        created_ns=int(entries.created_ns[row]),
        timeout_ms=int(entries.timeout_ms[row]),
        failed=bool(entries.retired[row]),
        timed=bool(entries.started_ns.any()) and _tells_its_start(entries, batch),
        frames=entries.stacks[stack] if stack >= 0 else (),
    )
    if not entries.is_p2p[row]:
        return found
    return replace(
        found,
        seq=int(entries.p2p_seq[row]),
        peers=_batch_peers(entries, batch, communicator),
        sends=found.call.op.startswith("send"),
    )


def _batch(entries: Entries, rows: Ints) -> Ints:
    """The rows that were launched as one with the first: they share its number."""
    number = entries.p2p_seq if entries.is_p2p[rows[0]] else entries.seq
    launched: Ints = rows[number[rows] == number[rows[0]]]
    return launched


def _tells_its_start(entries: Entries, batch: Ints) -> bool:
    """Only the entry that closes a batch has events; its parts stay scheduled for ever."""
    closing = entries.calls[int(entries.call[batch[-1]])].op
    return len(batch) == 1 or closing.endswith("coalesced")


def _batch_peers(entries: Entries, batch: Ints, communicator: Communicator) -> tuple[int, ...]:
    """The global ranks at the other ends of a batch (sends and receives posted as one)."""
    size = len(communicator.ranks)
    peers = {int(communicator.ranks[p]) for p in entries.peer[batch] if 0 <= p < size}
    return tuple(sorted(peers))
