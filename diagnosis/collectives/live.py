"""Following live progress: one call's reports merged into what is known of an attempt."""

from dataclasses import replace

import numpy as np

from diagnosis.core.collectives import NOT_KNOWN, Bools, Ints
from diagnosis.core.live_progress import (
    CommCounters,
    LiveProgress,
    Phase,
    ProgressBatch,
    no_counters,
)

#: Pauses of training that are remembered, and the longest that still counts as its pace (s).
PAUSES_KEPT, LONGEST_PAUSE = 16, 300.0
#: Points of the step's course that are remembered.
PACE_KEPT = 512
_RANK_BITS = 32


def follow(known: LiveProgress | None, batch: ProgressBatch) -> tuple[LiveProgress, int]:
    """What is known after a batch, and how many of its reports came late and were passed over.

    A report that is not newer than the rank's latest changes nothing, so that a call that is sent
    twice, or late, is harmless. Ranks that the batch leaves out stay as they were.
    """
    known = known or _nothing()
    place = np.searchsorted(known.ranks, batch.ranks)
    there = place < len(known.ranks)
    there[there] = known.ranks[place[there]] == batch.ranks[there]
    late = np.zeros(len(batch.ranks), np.bool_)
    late[there] = known.seen[place[there]] >= batch.time
    if late.all():
        return known, int(late.sum())
    fresh = _some(batch, ~late)
    counters, moved = _merged(known, fresh)
    merged = _with_ranks(known, fresh, moved)
    return _with_course(known, replace(merged, counters=counters)), int(late.sum())


def _nothing() -> LiveProgress:
    none, no_time = np.zeros(0, np.int64), np.zeros(0)
    return LiveProgress(none, no_time, no_time, none, none, no_counters())


def _some(batch: ProgressBatch, kept: Bools) -> ProgressBatch:
    """The kept reports in the order of ranks, with their counters."""
    order = np.flatnonzero(kept)[np.argsort(batch.ranks[kept])]
    ranks = batch.ranks[order]
    return ProgressBatch(
        time=batch.time,
        ranks=ranks,
        step=batch.step[order],
        phase=batch.phase[order],
        told_comms=batch.told_comms[order],
        counters=_rows(batch.counters, np.isin(batch.counters.rank, ranks)),
    )


def _rows(counters: CommCounters, kept: Bools | Ints) -> CommCounters:
    return CommCounters(
        counters.names,
        counters.comm[kept],
        counters.rank[kept],
        counters.enqueued[kept],
        counters.started[kept],
        counters.completed[kept],
    )


def _merged(known: LiveProgress, batch: ProgressBatch) -> tuple[CommCounters, Bools]:
    """All counters, and which ranks of the batch show others than before."""
    old, new = known.counters, batch.counters
    number = {name: index for index, name in enumerate(old.names)}
    renamed = np.array([number.setdefault(name, len(number)) for name in new.names], np.int64)
    new = replace(new, names=tuple(number), comm=renamed[new.comm] if len(new) else new.comm)
    moved = _moved(old, new, batch)
    replaced = batch.ranks[batch.told_comms]
    kept = _rows(old, ~np.isin(old.rank, replaced))
    joined = CommCounters(
        tuple(number),
        *(
            np.concatenate((getattr(kept, name), getattr(new, name)))
            for name in ("comm", "rank", "enqueued", "started", "completed")
        ),
    )
    joined = _rows(joined, np.argsort(_keys(joined), kind="stable"))
    return _without_unused(joined), moved


def _keys(counters: CommCounters) -> Ints:
    return (counters.comm << _RANK_BITS) + counters.rank


def _without_unused(counters: CommCounters) -> CommCounters:
    """Names that no rank reports any longer are forgotten."""
    used = np.unique(counters.comm)
    if len(used) == len(counters.names):
        return counters
    names = tuple(counters.names[index] for index in used)
    return replace(counters, names=names, comm=np.searchsorted(used, counters.comm))


def _moved(old: CommCounters, new: CommCounters, batch: ProgressBatch) -> Bools:
    """Ranks whose counters differ, or that are in other communicators than before."""
    old_keys, new_keys = _keys(old), _keys(new)
    order = np.argsort(new_keys)
    place = np.searchsorted(old_keys, new_keys)
    same = place < len(old_keys)
    at = place[same]
    same[same] = (
        (old_keys[at] == new_keys[same])
        & (old.enqueued[at] == new.enqueued[same])
        & (old.started[at] == new.started[same])
        & (old.completed[at] == new.completed[same])
    )
    moved = np.isin(batch.ranks, new.rank[order][~same[order]])
    others = _memberships(old, batch.ranks) != _memberships(new, batch.ranks)
    moved[batch.told_comms & others] = True
    return moved


def _memberships(counters: CommCounters, ranks: Ints) -> Ints:
    """How many communicators each of the (ascending) ranks reports."""
    place = np.searchsorted(ranks, counters.rank)
    inside = place < len(ranks)
    inside[inside] = ranks[place[inside]] == counters.rank[inside]
    return np.bincount(place[inside], minlength=len(ranks))


def _with_ranks(known: LiveProgress, batch: ProgressBatch, moved: Bools) -> LiveProgress:
    ranks = np.union1d(known.ranks, batch.ranks)
    old, new = np.searchsorted(ranks, known.ranks), np.searchsorted(ranks, batch.ranks)
    seen, changed = np.zeros(len(ranks)), np.zeros(len(ranks))
    step = np.full(len(ranks), NOT_KNOWN, np.int64)
    phase = np.zeros(len(ranks), np.int64)
    seen[old], changed[old] = known.seen, known.changed
    step[old], phase[old] = known.step, known.phase
    told_step = np.where(batch.step == NOT_KNOWN, step[new], batch.step)
    first = ~np.isin(batch.ranks, known.ranks)
    moved = moved | first | (step[new] != told_step) | (phase[new] != batch.phase)
    seen[new] = batch.time
    changed[new] = np.where(moved, batch.time, changed[new])
    step[new], phase[new] = told_step, batch.phase
    return replace(known, ranks=ranks, seen=seen, changed=changed, step=step, phase=phase)


def _with_course(before: LiveProgress, now: LiveProgress) -> LiveProgress:
    """Counts a move of the job, remembers how long it had paused, and where its steps are."""
    if len(before.ranks) == 0 or now.last_moved <= before.last_moved:
        return now
    pause = before.last_seen - before.last_moved
    training = bool(np.isin(before.phase, (Phase.UNKNOWN, Phase.TRAIN)).all())
    pauses = now.pauses
    if training and 0 < pause <= LONGEST_PAUSE:
        pauses = (*pauses, pause)[-PAUSES_KEPT:]
    now = replace(now, moves=now.moves + 1, pauses=pauses)
    known = now.step[now.step != NOT_KNOWN]
    if not len(known):
        return now
    return replace(
        now,
        pace_time=np.append(now.pace_time, now.last_moved)[-PACE_KEPT:],
        pace_step=np.append(now.pace_step, float(np.median(known)))[-PACE_KEPT:],
    )
