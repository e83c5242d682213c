"""Who holds up a job that stands still, from the counters of its live reports."""

from collections.abc import Sequence

from diagnosis.collectives.counters import SOURCE
from diagnosis.collectives.report import (
    JOB,
    Case,
    conclusion,
    count,
    ranks_text,
    victims,
    waits_in,
)
from diagnosis.collectives.settings import CollectiveSettings
from diagnosis.collectives.standstill import Standstill
from diagnosis.collectives.verdict_arrival import arrival_verdict
from diagnosis.collectives.wait_graph import WaitGraph, wait_graph
from diagnosis.core.diagnosis import Conclusion, Recommendation
from diagnosis.core.placement import Placement
from diagnosis.core.words import Action, IncidentKind, VerdictClass


def localise_standstill(found: Standstill, placement: Placement) -> Conclusion:
    """The conclusion about a job that is STILL; raises `ValueError` for one that is not."""
    if found.progress is None:
        raise ValueError("only a job that stands still is localised")
    settings = CollectiveSettings()
    case = Case(found.progress, placement, settings, {}, word="report", kinds=(SOURCE,))
    trace = [
        f"{found.fresh} of {count(found.known, 'rank')} reported lately",
        found.reason,
        *found.progress.notes,
    ]
    graph = wait_graph(found.progress, settings.impossible_lead)
    if graph.cycle:
        return _circle(case, graph, trace)
    if graph.sinks:
        return arrival_verdict(case, graph, trace)
    if found.progress.waiting:
        return _stalled_inside(case, trace)
    return _outside_collectives(case, found, trace)


def _circle(case: Case, graph: WaitGraph, trace: Sequence[str]) -> Conclusion:
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.UNKNOWN,
        summary=(
            f"{ranks_text(graph.cycle).capitalize()} wait for one another in a circle: calls in "
            "different orders, or a stall inside."
        ),
        confidence=0.4,
        trace=(*trace, "the waits lead in a circle; counters do not tell the order of calls"),
        suspects=victims(case, graph.cycle),
        recommendations=[
            Recommendation(
                Action.WATCH, JOB, "Hand in Flight Recorder dumps: they tell whose order differs."
            )
        ],
    )


def _stalled_inside(case: Case, trace: Sequence[str]) -> Conclusion:
    first = case.progress.waiting[min(case.progress.waiting)]
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.UNKNOWN,
        summary=(
            f"Everyone has arrived at {waits_in(case.progress, first)} and it does not end: "
            "it stalled inside, on the communication side."
        ),
        confidence=0.5,
        trace=(*trace, "all members have arrived at what is open: nobody is missing"),
        suspects=victims(case, case.progress.waiting),
        recommendations=[
            Recommendation(
                Action.WATCH,
                JOB,
                "Look at the NIC counters of the job's hosts, and hand in Flight Recorder dumps.",
            )
        ],
    )


def _outside_collectives(case: Case, found: Standstill, trace: Sequence[str]) -> Conclusion:
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.UNKNOWN,
        summary=(
            f"All {count(found.fresh, 'rank')} that report stand still at the same point with no "
            "collective open: data loading, a checkpoint or shared storage; no host is to blame."
        ),
        confidence=0.5,
        trace=(*trace, "no rank is behind and no collective is open"),
        recommendations=[
            Recommendation(
                Action.WATCH, JOB, "Look at shared storage, and at what each process is doing."
            )
        ],
    )
