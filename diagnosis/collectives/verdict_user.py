"""Verdicts that blame the user's code: a call mismatch, and a deadlock by call order."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from diagnosis.collectives.circle import ORDER, minority, order_proof
from diagnosis.collectives.merge import Merged
from diagnosis.collectives.mismatch import Call, Mismatch
from diagnosis.collectives.operations import describe
from diagnosis.collectives.out_of_step import out_of_step
from diagnosis.collectives.report import (
    Case,
    call_site,
    conclusion,
    frame_text,
    on_hosts,
    ranks_text,
    victims,
    waits_in,
)
from diagnosis.collectives.usual_order import out_of_order
from diagnosis.collectives.wait_graph import WaitGraph
from diagnosis.core.diagnosis import Conclusion, Finding, Recommendation, Suspect
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass

MISMATCH = "collective-call-mismatch"


def first_mismatch(found: Sequence[Mismatch]) -> Mismatch:
    """The one to report: with a majority before a tie, then the earliest call."""
    return min(
        found,
        key=lambda item: (
            item.tie,
            min(call.created_ns for call in item.odd),
            item.communicator,
        ),
    )


def mismatch_verdict(case: Case, found: Mismatch, trace: Sequence[str]) -> Conclusion:
    """The minority's call does not fit the others': `user`, and nothing is isolated."""
    communicator = case.progress.communicators[found.communicator]
    odd = [call.rank for call in found.odd]
    place = f"#{found.seq} of {communicator.label}"
    if found.tie:
        summary = (
            f"The ranks of {communicator.label} call different things at #{found.seq} and no "
            f"majority tells which is meant: {_both_sides(found)}."
        )
        score, role = 1.0 / len(odd), Role.POSSIBLE
    else:
        summary = (
            f"{ranks_text(odd).capitalize()}{on_hosts(case, odd)} called "
            f"{describe(found.odd[0].call)} at {place} where {ranks_text(_ranks(found.others))} "
            f"called {describe(found.others[0].call)}: a mismatch in the user's code."
        )
        score, role = 0.95 if len(odd) == 1 else 0.9, Role.CULPRIT
    suspects = [
        Suspect(case.target(call.rank), score, role, MISMATCH, _proof(case, found, call))
        for call in found.odd
    ]
    waiters = set(case.progress.waiting) - set(odd)
    reason = f"Make all ranks call the same at {place}; they differ in {found.differs_in}."
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.USER,
        summary=summary,
        confidence=0.95 if not found.tie else 0.8,
        trace=(*trace, f"call mismatch at {place}: {_both_sides(found)}"),
        suspects=[*suspects, *victims(case, waiters)],
        recommendations=[Recommendation(Action.FIX_CODE, _code(found.odd[0]), reason)],
        decisive=True,
    )


def _ranks(calls: Sequence[Call]) -> list[int]:
    return [call.rank for call in calls]


def _both_sides(found: Mismatch) -> str:
    groups: dict[str, list[int]] = {}
    for call in (*found.odd, *(c for c in found.others if c not in found.odd)):
        groups.setdefault(describe(call.call), []).append(call.rank)
    return "; ".join(f"{ranks_text(ranks)}: {call}" for call, ranks in groups.items())


def _proof(case: Case, found: Mismatch, call: Call) -> tuple[Finding, ...]:
    other = found.others[0] if call is not found.others[0] else found.odd[0]
    communicator = case.progress.communicators[found.communicator]
    target = case.target(call.rank)
    return tuple(
        Finding(
            detector="collectives.mismatch",
            target=target,
            text=f"{who} {describe(shown.call)} as #{found.seq} of {communicator.label}"
            + (f", at {call_site(shown.frames)}" if call_site(shown.frames) else ""),
            evidence=shown.source,
            locator={
                "entry": shown.record_id,
                "communicator": communicator.name,
                "seq": found.seq,
                "frames": [frame_text(frame) for frame in shown.frames[:8]],
            },
            time=shown.created_ns / 1e9 or None,
        )
        for who, shown in (
            (f"rank {call.rank} called", call),
            (_with_peers(other, found), other),
        )
    )


def _with_peers(call: Call, found: Mismatch) -> str:
    same = sum(other.call == call.call for other in found.others) - 1
    return f"rank {call.rank}{f' and {same} others' if same > 0 else ''} called"


def _code(call: Call) -> Target:
    return Target(TargetKind.USER_CODE, name=call_site(call.frames) or "the user's code")


def deadlock_verdict(
    case: Case, merged: Merged, graph: WaitGraph, trace: Sequence[str]
) -> Conclusion:
    """A circle of waits: some ranks use two communicators in another order than the rest."""
    named = _odd_in_circle(case, merged, graph)
    decided = len(named) < len(graph.cycle)
    rest = [rank for rank in graph.cycle if rank not in named] or named
    score = (0.95 if len(named) == 1 else 0.85) if decided else 1.0 / len(named)
    role = Role.CULPRIT if decided else Role.POSSIBLE
    waiting = case.progress.waiting
    code = call_site(waiting[min(named)].frames) or "the user's code"
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.USER,
        summary=(
            f"Deadlock by call order: {ranks_text(named)}{on_hosts(case, named)} "
            f"{'waits' if len(named) == 1 else 'wait'} in {_first_place(case, named)} while "
            f"{ranks_text(rest)} {'waits' if len(rest) == 1 else 'wait'} in "
            f"{_first_place(case, rest)}, each for the other."
        ),
        confidence=score if decided else 0.8,
        trace=(
            *trace,
            f"the waits of {ranks_text(graph.cycle)} form a circle without an end: call order",
        ),
        suspects=[
            *(
                Suspect(case.target(rank), score, role, ORDER, order_proof(case, rank, rest[0]))
                for rank in named
            ),
            *victims(case, set(waiting) - set(named)),
        ],
        recommendations=[
            Recommendation(
                Action.FIX_CODE,
                Target(TargetKind.USER_CODE, name=code),
                "Use the communicators in the same order on every rank.",
            )
        ],
        decisive=True,
    )


def _odd_in_circle(case: Case, merged: Merged, graph: WaitGraph) -> list[int]:
    """Who left the usual order, else the minority of the circle, else who left its own pattern.

    All ranks where none of these tells.
    """
    cycle = graph.cycle
    rules: tuple[Callable[[], list[int]], ...] = (
        lambda: out_of_step(merged, cycle),
        lambda: out_of_order(merged, cycle),
        lambda: minority(case.progress, cycle),
        lambda: _left_own_pattern(merged, cycle),
    )
    found = (odd for rule in rules if 0 < len(odd := rule()) < len(cycle))
    return next(found, list(cycle))


def _first_place(case: Case, ranks: Sequence[int]) -> str:
    return waits_in(case.progress, case.progress.waiting[min(ranks)])


def _left_own_pattern(merged: Merged, ranks: Sequence[int]) -> list[int]:
    """Ranks that stand in a communicator which never before followed their previous one."""
    return [rank for rank in ranks if _is_new_step(merged, rank)]


def _is_new_step(merged: Merged, rank: int) -> bool:
    steps = sorted(
        (int(row), index)
        for (index, other), view in merged.views.items()
        if other == rank
        for row in view.rows
    )
    order = [index for _, index in steps]
    operation = merged.progress.waiting[rank]
    here = next(
        (
            place
            for place, (row, _) in enumerate(steps)
            if _record(merged, rank, row) == operation.record_id
        ),
        0,
    )
    if here < 2:
        return False
    taken = set(pairwise(order[:here]))
    return (order[here - 1], order[here]) not in taken


def _record(merged: Merged, rank: int, row: int) -> int:
    entries = next(dump.entries for dump in merged.dumps if dump.rank == rank)
    return int(entries.record_id[row])
