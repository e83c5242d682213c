"""Verdict about ranks whose sends and receives do not fit those of their like."""

from collections.abc import Sequence

from diagnosis.collectives.circle import ORDER
from diagnosis.collectives.report import (
    Case,
    call_site,
    conclusion,
    on_hosts,
    operation_finding,
    ranks_text,
    victims,
    waits_in,
)
from diagnosis.collectives.wait_graph import WaitGraph
from diagnosis.core.diagnosis import Conclusion, Recommendation, Suspect
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass


def out_of_step_verdict(
    case: Case, odd: Sequence[int], graph: WaitGraph, trace: Sequence[str]
) -> Conclusion:
    """Ranks that meet their neighbours with another send or receive than their like make."""
    waiting = case.progress.waiting
    score = 0.9 if len(odd) == 1 else 0.85
    place = waits_in(case.progress, waiting[min(odd)])
    code = call_site(waiting[min(odd)].frames) or "the user's code"
    said = f"where {'its' if len(odd) == 1 else 'their'} like in other pipelines make another call"
    suspects = [
        Suspect(
            case.target(rank), score, Role.CULPRIT, ORDER,
            (
                operation_finding(
                    case, waiting[rank],
                    f"rank {rank} stands in {waits_in(case.progress, waiting[rank])}, {said}",
                ),
            ),
        )
        for rank in odd
    ]  # fmt: skip
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.USER,
        summary=(
            f"{ranks_text(odd).capitalize()}{on_hosts(case, odd)} "
            f"{'stands' if len(odd) == 1 else 'stand'} in {place}, {said}: a "
            "send or receive was left out, or made once more."
        ),
        confidence=score,
        trace=(*trace, f"out of step with the ranks at the same place: {ranks_text(odd)}"),
        suspects=[*suspects, *victims(case, graph.blocked - set(odd))],
        recommendations=[
            Recommendation(
                Action.FIX_CODE,
                Target(TargetKind.USER_CODE, name=code),
                "Make every pipeline send and receive in the same order.",
            )
        ],
        decisive=True,
    )
