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
    for index in range(len(merged.progress.communicators)):
        columns = _columns(merged, index, signatures)
        if columns is not None:
            seq = _first_disagreement(*columns)
            if seq is not None:
                found.append(_mismatch(merged, index, seq))
    return tuple(found)


def _columns(
    merged: Merged, index: int, signatures: dict[Signature, int]
) -> tuple[Ints, Ints] | None:
    """(sequence numbers, numbers of comparable calls) of one communicator where ranks are stuck.

    That is behind what all ranks have completed, and always the newest operation of all.
    """
    communicator = merged.progress.communicators[index]
    views = [
        (dump.entries, view) for dump, view in merged.views_in.get(index, ()) if len(view.rows)
    ]
    if len(views) < 2:
        return None
    reported = communicator.completed[communicator.reported]
    newest = max(int(entries.seq[view.rows[-1]]) for entries, view in views)
    first_stuck = min(newest, int(reported.min(initial=newest)) + 1)
    seqs, calls = [], []
    for entries, view in views:
        begin = int(np.searchsorted(entries.seq[view.rows], first_stuck))
        rows = first_of_each(entries.seq, view.rows[begin:])
        numbers = {
            call: signatures.setdefault(comparable(entries.calls[call]), len(signatures))
            for call in set(entries.call[rows].tolist())
        }
        seqs.append(entries.seq[rows])
        calls.append(np.asarray([numbers[c] for c in entries.call[rows].tolist()], np.int64))
    return np.concatenate(seqs), np.concatenate(calls)


def first_of_each(seq: Ints, rows: Ints) -> Ints:
    """The first row of each sequence number: coalesced operations share one.

    `rows` are of one generation of a group, so that the numbers never fall.
    """
    numbers = seq[rows]
    differs = np.ones(len(rows), np.bool_)
    differs[1:] = numbers[1:] != numbers[:-1]
    return rows[differs]


def _first_disagreement(seqs: Ints, calls: Ints) -> int | None:
    order = np.argsort(seqs, kind="stable")
    seqs, calls = seqs[order], calls[order]
    values, starts = np.unique(seqs, return_index=True)
    if not len(values):
        return None
    differ = np.minimum.reduceat(calls, starts) != np.maximum.reduceat(calls, starts)
    found = values[differ]
    return int(found[0]) if len(found) else None


def _mismatch(merged: Merged, index: int, seq: int) -> Mismatch:
    calls = _calls_at(merged, index, seq)
    counts = Counter(comparable(call.call) for call in calls)
    most = max(counts.values())
    leaders = [signature for signature, count in counts.items() if count == most]
    if len(leaders) > 1:
        leaders = _usual_among_siblings(merged, index, seq, leaders)
    tie = len(leaders) > 1
    usual = min(leaders, key=repr)
    odd = tuple(call for call in calls if tie or comparable(call.call) != usual)
    others = tuple(call for call in calls if comparable(call.call) == usual)
    if tie:
        others = tuple(call for call in calls if comparable(call.call) != comparable(odd[0].call))
    return Mismatch(index, seq, odd, others, tie)


def _usual_among_siblings(
    merged: Merged, index: int, seq: int, leaders: list[Signature]
) -> list[Signature]:
    """Which of the leaders most communicators of the same kind call at this place; else all.

    Two tensor groups of a job do the same work: where one is split, another tells what is meant.
    """
    communicators = merged.progress.communicators
    own = communicators[index]
    kind = _kind(own)
    counts: Counter[Signature] = Counter()
    for other, communicator in enumerate(communicators):
        same = len(communicator.ranks) == len(own.ranks) and _kind(communicator) == kind
        if other != index and same:
            counts.update(comparable(call.call) for call in _calls_at(merged, other, seq))
    told = {signature: counts[signature] for signature in leaders}
    most = max(told.values())
    return [signature for signature in leaders if told[signature] == most]


def _kind(communicator: Communicator) -> str:
    """What groups of one kind have in common: `TP_0` and `TP_1` differ in digits only."""
    return "".join(one for one in communicator.desc if not one.isdigit())


def _calls_at(merged: Merged, index: int, seq: int) -> Sequence[Call]:
    calls = []
    for dump, view in merged.views_in.get(index, ()):
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
