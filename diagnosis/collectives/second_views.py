"""What other sources say of a job whose reports stand still: NCCL RAS, and how far the logs are.

They are weaker than the counters of reports (RAS counts launches only, and logs are written when
they are), so that they name possible ranks, and only where few stand out; together with the
counters they make sure. A process that RAS has given up for dead is a fact of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from diagnosis.collectives.counters import SOURCE
from diagnosis.collectives.report import JOB, Case, conclusion, on_hosts, ranks_text
from diagnosis.collectives.settings import CollectiveSettings
from diagnosis.collectives.standstill import Standstill
from diagnosis.collectives.verdict_arrival import MISSING, arrival_verdict
from diagnosis.collectives.wait_graph import wait_graph
from diagnosis.core.collectives import NOT_KNOWN, CollectiveProgress, Communicator
from diagnosis.core.diagnosis import Conclusion, Finding, Recommendation, Suspect
from diagnosis.core.placement import Placement
from diagnosis.core.words import Action, IncidentKind, Role, VerdictClass

RAS, STEPS = "NCCL RAS", "steps told by logs and reports"
GIVEN_UP = "NCCL RAS has given its process up"
#: More ranks that stand out at once than this share of all say nothing about any of them.
_FEW_SHARE = 0.125
_RAS_SCORE, _STEPS_SCORE = 0.6, 0.4


@dataclass(frozen=True, slots=True)
class AskedProgress:
    """RAS's answer about a job: what its ranks launched, and how processes ended, by rank.

    `progress` is None where it is no view of its own: the job reports nothing else.
    """

    progress: CollectiveProgress | None
    ended: Mapping[int, str] = field(default_factory=dict)


def second_views(
    found: Standstill, asked: AskedProgress | None, placement: Placement
) -> list[Conclusion]:
    """A conclusion of each further source that singles out few ranks."""
    views = []
    if asked is not None and asked.progress is not None:
        views.append(_of_ras(asked.progress, asked.ended, placement))
    if found.steps is not None:
        views.append(_of_steps(found.steps, placement))
    return [view for view in views if view is not None]


def _of_ras(
    progress: CollectiveProgress, ended: Mapping[int, str], placement: Placement
) -> Conclusion | None:
    settings = CollectiveSettings()
    case = Case(progress, placement, settings, ended, kinds=(RAS,), word="answer to NCCL RAS")
    graph = wait_graph(case.progress, settings.impossible_lead)
    if not graph.sinks or graph.cycle or not _are_few(len(graph.sinks), case.progress.world):
        return None
    verdict = arrival_verdict(case, graph, [f"{RAS}: a rank launched less than its peers"])
    suspects = tuple(
        suspect
        if suspect.role is Role.VICTIM or suspect.target.rank in ended
        else replace(suspect, role=Role.POSSIBLE, score=min(suspect.score, _RAS_SCORE))
        for suspect in verdict.suspects
    )
    named = [suspect for suspect in suspects if suspect.role is not Role.VICTIM]
    if not named:
        return None
    sure = any(suspect.role is Role.CULPRIT for suspect in named)
    confidence = max(suspect.score for suspect in named)
    return replace(
        verdict,
        branch=RAS,
        verdict=replace(verdict.verdict, confidence=confidence),
        suspects=suspects,
        recommendations=verdict.recommendations if sure else _LOOK,
        decisive=sure,
    )


def _of_steps(steps: Communicator, placement: Placement) -> Conclusion | None:
    """The few ranks whose last step is behind everyone else's."""
    told = steps.enqueued[steps.enqueued != NOT_KNOWN]
    if not len(told):
        return None
    usual = int(np.median(told))
    behind = steps.ranks[(steps.enqueued != NOT_KNOWN) & (steps.enqueued < usual)].tolist()
    if not behind or not _are_few(len(behind), told.tolist()):
        return None
    at = dict(zip(steps.ranks.tolist(), steps.enqueued.tolist(), strict=True))
    progress = CollectiveProgress(
        (steps,),
        world=tuple(steps.ranks.tolist()),
        reported=frozenset(steps.ranks[steps.reported].tolist()),
        hosts={place.rank: place.host for place in placement.places},
    )
    case = Case(progress, placement, CollectiveSettings(), {}, kinds=(STEPS,), word="step")
    score = _STEPS_SCORE / len(behind)
    suspects = []
    for rank in behind:
        text = f"rank {rank} last told step {at[rank]}, most others step {usual}"
        finding = Finding("collectives.steps", case.target(rank), text, SOURCE)
        suspects.append(Suspect(case.target(rank), score, Role.POSSIBLE, MISSING, (finding,)))
    who = f"{ranks_text(behind).capitalize()}{on_hosts(case, behind)}"
    summary = f"{who} told no step after {min(at[rank] for rank in behind)}; most others did."
    return replace(
        conclusion(
            case,
            kind=IncidentKind.HANG,
            cls=VerdictClass.UNKNOWN,
            summary=summary,
            confidence=score,
            trace=[f"{STEPS}: {ranks_text(behind)} behind step {usual}"],
            suspects=suspects,
            recommendations=_LOOK,
        ),
        branch=STEPS,
    )


def _are_few(number: int, ranks: Sequence[int]) -> bool:
    return number <= max(1, _FEW_SHARE * len(ranks))


_LOOK = (Recommendation(Action.WATCH, JOB, "Look at what these ranks' processes are doing."),)
