"""Ranks that wait for one another in a circle: whose order of calls is the odd one out."""

from collections import Counter
from collections.abc import Sequence

from diagnosis.collectives.report import (
    JOB,
    Case,
    conclusion,
    on_hosts,
    operation_finding,
    ranks_text,
    victims,
    waits_in,
)
from diagnosis.core.collectives import CollectiveProgress, OpenOperation
from diagnosis.core.diagnosis import Conclusion, Finding, Recommendation, Suspect
from diagnosis.core.words import Action, IncidentKind, Role, VerdictClass

ORDER = "collective-order-deadlock"
#: Counters do not show the calls: a stall inside two communicators at once would look the same.
_SCORE_BY_COUNTERS = 0.75
#: So many times as many ranks wait at one place of an evenly split circle as at the next.
_CLEAR_MAJORITY = 2
_HAND_IN_DUMPS = "Hand in Flight Recorder dumps: they tell whose order differs, and where."


def minority(progress: CollectiveProgress, cycle: Sequence[int]) -> list[int]:
    """Whom most of the circle waits for; empty where no majority tells.

    Where the circle is split evenly, all ranks that wait at its places are counted: of two that
    wait for each other, the one beside whom the whole job waits does as the others do. Ranks that
    wait elsewhere and are no members where most wait are only caught between the two.
    """
    at = {rank: progress.waiting[rank] for rank in cycle}
    places = Counter(map(_place_of, at.values()))
    (usual, most), *others = places.most_common()
    split = bool(others) and others[0][1] == most
    if split:
        everyone = Counter(map(_place_of, progress.waiting.values()))
        level = [place for place, count in places.items() if count == most]
        usual, second = sorted(level, key=lambda place: -everyone[place])[:2]
        if everyone[usual] <= _CLEAR_MAJORITY * everyone[second]:
            return []
    members = progress.communicators[usual[0]].index_of_rank
    odd = [rank for rank, op in at.items() if rank in members and _place_of(op) != usual]
    return sorted(odd) if len(odd) < most + split else []


def _place_of(operation: OpenOperation) -> tuple[int, int]:
    return operation.communicator, operation.seq


def circle_by_counters(case: Case, cycle: Sequence[int], trace: Sequence[str]) -> Conclusion:
    """The verdict where counters alone are known: the minority is possible, and its code."""
    odd = minority(case.progress, cycle)
    if not odd:
        return _nobody_named(case, cycle, trace)
    rest = [rank for rank in cycle if rank not in odd]
    score = _SCORE_BY_COUNTERS / len(odd)
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.USER,
        summary=(
            f"{ranks_text(odd).capitalize()}{on_hosts(case, odd)} "
            f"{'is' if len(odd) == 1 else 'are'} already in {_place(case, odd)} while "
            f"{ranks_text(rest)} {'waits' if len(rest) == 1 else 'wait'} in {_place(case, rest)}, "
            "each for the other: most likely calls in different orders."
        ),
        confidence=_SCORE_BY_COUNTERS,
        trace=(
            *trace,
            f"the waits of {ranks_text(cycle)} form a circle; most of it waits in one place",
        ),
        suspects=[
            *(
                Suspect(
                    case.target(rank), score, Role.POSSIBLE, ORDER, order_proof(case, rank, rest[0])
                )
                for rank in odd
            ),
            *victims(case, rest),
        ],
        recommendations=[Recommendation(Action.WATCH, JOB, _HAND_IN_DUMPS)],
    )


def order_proof(case: Case, rank: int, other: int) -> tuple[Finding, ...]:
    """Where a rank of the circle waits, and where one of those that it waits for does."""
    own, others = case.progress.waiting[rank], case.progress.waiting[other]
    text = f"rank {rank} is already in {waits_in(case.progress, own)}"
    proof = [operation_finding(case, own, text)]
    if other != rank:
        before = f"rank {other} is still in {waits_in(case.progress, others)}"
        proof.append(operation_finding(case, others, before, rank=rank))
    return tuple(proof)


def _nobody_named(case: Case, cycle: Sequence[int], trace: Sequence[str]) -> Conclusion:
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.UNKNOWN,
        summary=(
            f"{ranks_text(cycle).capitalize()} wait for one another in a circle: calls in "
            "different orders, or a stall inside."
        ),
        confidence=0.4,
        trace=(*trace, "the waits lead in a circle and no majority tells whose order is odd"),
        suspects=victims(case, cycle),
        recommendations=[Recommendation(Action.WATCH, JOB, _HAND_IN_DUMPS)],
    )


def _place(case: Case, ranks: Sequence[int]) -> str:
    return waits_in(case.progress, case.progress.waiting[min(ranks)])
