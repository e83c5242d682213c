"""Who holds up a job that stands still, from the counters of its live reports."""

from collections.abc import Mapping, Sequence

from diagnosis.collectives.counters import SOURCE
from diagnosis.collectives.counters_verdict import held_up
from diagnosis.collectives.report import JOB, Case, conclusion, count
from diagnosis.collectives.settings import CollectiveSettings
from diagnosis.collectives.standstill import Standstill
from diagnosis.collectives.verdict_quiet import in_flight_verdict
from diagnosis.collectives.wait_graph import wait_graph
from diagnosis.core.diagnosis import Conclusion, Recommendation
from diagnosis.core.placement import Placement
from diagnosis.core.words import Action, IncidentKind, VerdictClass

_NOBODY_ENDED: Mapping[int, str] = {}


def localise_standstill(
    found: Standstill, placement: Placement, ended_ranks: Mapping[int, str] = _NOBODY_ENDED
) -> Conclusion:
    """The conclusion about a job that is STILL; raises `ValueError` for one that is not.

    `ended_ranks` says of which ranks the process is known to have ended, and by whom.
    """
    if found.progress is None:
        raise ValueError("only a job that stands still is localised")
    settings = CollectiveSettings()
    case = Case(found.progress, placement, settings, ended_ranks, word="report", kinds=(SOURCE,))
    trace = [
        f"{found.fresh} of {count(found.known, 'rank')} reported lately",
        found.reason,
        *found.progress.notes,
    ]
    graph = wait_graph(found.progress, settings.impossible_lead)
    if named := held_up(case, graph, trace):
        return named
    if found.progress.waiting:
        return in_flight_verdict(case, trace, still=True)
    return _outside_collectives(case, found, trace)


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
