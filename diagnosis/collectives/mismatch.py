"""Call mismatch: ranks that disagree on what they call at one place of one communicator."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diagnosis.collectives.merge import Merged
from diagnosis.collectives.operations import comparable
from diagnosis.core.collectives import Communicator, Ints, Signature, SourceFrame


@dataclass(frozen=True, slots=True)
class Call:
    """What one rank called at the place of the mismatch, and where that stands in its dump."""

    rank: int
    call: Signature
    record_id: int
    source: str
    created_ns: int
    frames: tuple[SourceFrame, ...]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first disagreement of a communicator. `tie` means that no majority tells who is odd."""

    communicator: int
    seq: int
    odd: tuple[Call, ...]
    others: tuple[Call, ...]
    tie: bool

    @property
    def differs_in(self) -> str:
        """`operation`, `dtype` or `size`, whichever is the coarsest difference."""
        ours, theirs = self.odd[0].call, self.others[0].call
        if ours.op != theirs.op:
            return "operation"
        if (ours.input_dtypes, ours.output_dtypes) != (theirs.input_dtypes, theirs.output_dtypes):
            return "dtype"
        return "size"


def mismatches(merged: Merged) -> tuple[Mismatch, ...]:
    """The first mismatch of each communicator that somebody is still stuck at."""
    signatures: dict[Signature, int] = {}
    found = []
    for index, communicator in enumerate(merged.progress.communicators):
        columns = _columns(merged, index, signatures)
        if columns is not None:
            seq = _first_disagreement(communicator, *columns)
            if seq is not None:
                found.append(_mismatch(merged, index, seq))
    return tuple(found)


def _columns(
    merged: Merged, index: int, signatures: dict[Signature, int]
) -> tuple[Ints, Ints] | None:
    """(sequence numbers, numbers of comparable calls) over all ranks of one communicator."""
    seqs, calls = [], []
    for dump in merged.dumps:
        view = merged.views.get((index, dump.rank))
        if view is None or not len(view.rows):
            continue
        numbers = np.asarray(
            [signatures.setdefault(comparable(c), len(signatures)) for c in dump.entries.calls]
        )
        rows = first_of_each(dump.entries.seq, view.rows)
        seqs.append(dump.entries.seq[rows])
        calls.append(numbers[dump.entries.call[rows]])
    return (np.concatenate(seqs), np.concatenate(calls)) if len(seqs) > 1 else None


def first_of_each(seq: Ints, rows: Ints) -> Ints:
    """The first row of each sequence number: coalesced operations share one."""
    return rows[np.unique(seq[rows], return_index=True)[1]]


def _first_disagreement(communicator: Communicator, seqs: Ints, calls: Ints) -> int | None:
    order = np.argsort(seqs, kind="stable")
    seqs, calls = seqs[order], calls[order]
    values, starts = np.unique(seqs, return_index=True)
    differ = np.minimum.reduceat(calls, starts) != np.maximum.reduceat(calls, starts)
    reported = communicator.completed[communicator.reported]
    passed = int(reported.min()) if len(reported) else -1
    stuck = (values > passed) | (values == values[-1])
    found = values[differ & stuck]
    return int(found[0]) if len(found) else None


def _mismatch(merged: Merged, index: int, seq: int) -> Mismatch:
    calls = _calls_at(merged, index, seq)
    counts = Counter(comparable(call.call) for call in calls)
    most = max(counts.values())
    leaders = [signature for signature, count in counts.items() if count == most]
    tie = len(leaders) > 1
    usual = min(leaders, key=repr)
    odd = tuple(call for call in calls if tie or comparable(call.call) != usual)
    others = tuple(call for call in calls if comparable(call.call) == usual)
    if tie:
        others = tuple(call for call in calls if comparable(call.call) != comparable(odd[0].call))
    return Mismatch(index, seq, odd, others, tie)


def _calls_at(merged: Merged, index: int, seq: int) -> Sequence[Call]:
    calls = []
    for dump in merged.dumps:
        view = merged.views.get((index, dump.rank))
        if view is None:
            continue
        entries = dump.entries
        rows = view.rows[entries.seq[view.rows] == seq]
        if len(rows):
            stack = int(entries.stack[rows[0]])
            calls.append(
                Call(
                    rank=dump.rank,
                    call=entries.calls[int(entries.call[rows[0]])],
                    record_id=int(entries.record_id[rows[0]]),
                    source=dump.source,
                    created_ns=int(entries.created_ns[rows[0]]),
                    frames=entries.stacks[stack] if stack >= 0 else (),
                )
            )
    return calls
