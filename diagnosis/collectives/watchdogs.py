"""Watchdogs' counters, as logs state them, in the core type that dumps end in too."""

from collections.abc import Sequence

import numpy as np

from diagnosis.core.collective_reports import WorkReport
from diagnosis.core.collectives import (
    NOT_KNOWN,
    CollectiveProgress,
    Communicator,
    OpenOperation,
    Signature,
)

_PLACES = 2


def of_one_communicator(work: Sequence[WorkReport], span: int) -> list[WorkReport]:
    """The reports without those of names under which ranks wait too far apart (`alike_span`).

    Nor of names under which they wait in three places: all but who is behind wait in one.
    """
    waits: dict[str, dict[int, int]] = {}
    for report in work:
        if report.timed_out and report.sequence is not None:
            first = waits.setdefault(report.group, {})
            first[report.rank] = min(first.get(report.rank, report.sequence), report.sequence)
    mixed = {
        group
        for group, first in waits.items()
        if max(first.values()) - min(first.values()) > span or len(set(first.values())) > _PLACES
    }
    return [report for report in work if report.group not in mixed]


def progress_of(work: Sequence[WorkReport]) -> CollectiveProgress:
    """The watchdogs' counters as the core type; members are the ranks that spoke."""
    latest: dict[str, dict[int, list[WorkReport]]] = {}
    for report in work:
        latest.setdefault(report.group, {}).setdefault(report.rank, []).append(report)
    communicators, waiting = [], {}
    for index, (group, by_rank) in enumerate(sorted(latest.items())):
        ranks = sorted(by_rank)
        communicators.append(_communicator(group, [by_rank[rank] for rank in ranks], ranks))
        for rank in ranks:
            operation = _waits_in(index, by_rank[rank])
            if operation is not None and rank not in waiting:
                waiting[rank] = operation
    known = {rank for by_rank in latest.values() for rank in by_rank}
    return CollectiveProgress(
        communicators=tuple(communicators),
        waiting=waiting,
        open_in={(op.communicator, rank): op for rank, op in waiting.items()},
        world=tuple(sorted(known)),
        reported=frozenset(known),
    )


def _communicator(
    group: str, reports: Sequence[Sequence[WorkReport]], ranks: Sequence[int]
) -> Communicator:
    enqueued = [max((_known(r.enqueued) for r in said), default=NOT_KNOWN) for said in reports]
    completed = [max((_known(r.completed) for r in said), default=NOT_KNOWN) for said in reports]
    for place, said in enumerate(reports):
        timed_out = [r.sequence for r in said if r.timed_out and r.sequence is not None]
        if timed_out and completed[place] == NOT_KNOWN:
            completed[place] = min(timed_out) - 1
    return Communicator(
        name="" if group == "default" else group,
        desc="",
        ranks=np.asarray(ranks, np.int64),
        enqueued=np.asarray(enqueued, np.int64),
        started=np.full(len(ranks), NOT_KNOWN, np.int64),
        completed=np.asarray(completed, np.int64),
        reported=np.ones(len(ranks), np.bool_),
    )


def _known(value: int | None) -> int:
    return NOT_KNOWN if value is None else value


def _waits_in(index: int, said: Sequence[WorkReport]) -> OpenOperation | None:
    """Where a rank waits by its own words: the work that timed out, else the first uncompleted."""
    for report in said:
        sequence = report.sequence
        if sequence is None and report.timed_out and report.completed is not None:
            sequence = report.completed + 1
        if report.timed_out and sequence is not None:
            named = next((r.operation for r in said if r.operation), "work")
            return OpenOperation(
                rank=report.rank, communicator=index, seq=sequence, call=Signature(named),
                record_id=report.line.number, source=report.line.evidence, failed=True,
            )  # fmt: skip
    return None
