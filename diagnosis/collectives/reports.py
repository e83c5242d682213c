"""Who is behind, from counters in logs alone: watchdogs, RAS, desync reports, torchfrtrace output.

What the watchdogs' calls say of each other (a size or an operation that differs) is log triage's;
here their counters are compared, and the statements of other programs are weighed. The rank that
speaks is usually the one that waits, and one sample of launch counters proves nothing by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from diagnosis.collectives.report import (
    JOB,
    Case,
    conclusion,
    count,
    isolate_and_restart,
    ranks_text,
)
from diagnosis.collectives.settings import CollectiveSettings
from diagnosis.collectives.statements import (
    BEHIND,
    INSIDE_NCCL,
    LOST,
    MISMATCH,
    Vote,
    finding_of,
    suspects_of,
    votes_of,
)
from diagnosis.collectives.verdict_arrival import arrival_verdict
from diagnosis.collectives.wait_graph import Standing, wait_graph
from diagnosis.collectives.watchdogs import of_one_communicator, progress_of
from diagnosis.core.collective_reports import CollectiveReports
from diagnosis.core.diagnosis import Conclusion, Recommendation, Suspect
from diagnosis.core.placement import Placement
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass

_NOBODY_ENDED: Mapping[int, str] = {}
_SECOND_SAMPLE = "Take a second sample a minute later; only a rank that stays behind is stuck."

_FEW = "Hand in the logs of all ranks: the few that speak cannot tell who kept them."
_LOOK = "Look at its stack, its log and its host before anything is isolated."
#: As sure as counters of a few watchdogs make one.
LIKELY = 0.6

_DID = {
    BEHIND: "did not arrive where the others wait",
    MISMATCH: "called something else than its peers",
    INSIDE_NCCL: "entered NCCL's launch and has not returned",
    LOST: "cannot be reached",
}


def localise_counters(
    reports: CollectiveReports,
    *,
    placement: Placement | None = None,
    ended_ranks: Mapping[int, str] = _NOBODY_ENDED,
    settings: CollectiveSettings | None = None,
) -> Conclusion | None:
    """Judge what logs say of the collectives' counters; None where they single out nobody.

    Ranks whose last launched work lies below the one that their peers time out in did not arrive;
    ranks that completed several operations fewer than a peer stopped. RAS, desync reports and
    torchfrtrace add their statements; two that agree are worth more than one.
    """
    chosen = settings or CollectiveSettings()
    progress = progress_of(of_one_communicator(reports.work, chosen.alike_span))
    case = Case(progress, placement or Placement(), chosen, ended_ranks, kinds=("log",))
    graph = wait_graph(progress, case.settings.impossible_lead)
    trace = _trace(reports)
    behind = [s for s in graph.sinks if s.standing in {Standing.OUTSIDE, Standing.OVERTAKEN}]
    votes = votes_of(case, reports)
    if behind and not graph.cycle and len(behind) <= len(graph.blocked):
        only = replace(graph, sinks=tuple(behind))
        found = _with_votes(arrival_verdict(case, only, trace), votes)
        return _of_few(found) if len(graph.blocked) < chosen.least_waiting else _placed(found)
    if votes:
        return _placed(_from_votes(case, votes, trace))
    return _leaders_only(case, trace) if reports.mismatches else None


def _of_few(found: Conclusion) -> Conclusion:
    """What so few watchdogs tell is possible: the rest of the ranks may say otherwise."""
    suspects = [
        replace(suspect, role=Role.POSSIBLE, score=min(suspect.score, LIKELY))
        if suspect.role is Role.CULPRIT
        else suspect
        for suspect in found.suspects
    ]
    kept = [item for item in found.recommendations if item.action is not Action.ISOLATE_HOST]
    return replace(
        found,
        verdict=replace(found.verdict, confidence=min(found.verdict.confidence, LIKELY)),
        suspects=tuple(suspects),
        recommendations=(Recommendation(Action.WATCH, JOB, _FEW), *kept),
        decisive=False,
    )


def _placed(found: Conclusion) -> Conclusion:
    """The verdict, where a rank that no log places on a host asks for a look and no isolation.

    Counters tell who did not come, and not whether its part or its code kept it.
    """
    asked = [
        replace(item, action=Action.WATCH, reason=f"{item.reason} {_LOOK}")
        if item.action is Action.ISOLATE_HOST and item.target.host is None
        else item
        for item in found.recommendations
    ]
    return replace(found, recommendations=tuple(asked))


def _with_votes(found: Conclusion, votes: Sequence[Vote]) -> Conclusion:
    """The counters' verdict, with what other programs say of the same ranks as further proof."""
    suspects = []
    for suspect in found.suspects:
        extra = tuple(
            finding_of(suspect.target, vote)
            for vote in votes
            if suspect.role is not Role.VICTIM and vote.target.rank == suspect.target.rank
        )
        suspects.append(replace(suspect, findings=(*suspect.findings, *extra)))
    return replace(found, suspects=tuple(suspects))


def _from_votes(case: Case, votes: Sequence[Vote], trace: Sequence[str]) -> Conclusion:
    suspects = suspects_of(votes)
    top = suspects[0]
    culprits = [suspect for suspect in suspects if suspect.role is Role.CULPRIT]
    named = [s for s in suspects if s.role is top.role]
    ranks = [s.target.rank for s in named if s.target.rank is not None]
    hosts = sorted({s.target.host for s in named if s.target.host})
    who = ranks_text(ranks).capitalize() if ranks else f"A process on {', '.join(hosts)}"
    where = f" on {', '.join(hosts)}" if ranks and hosts else ""
    lost = top.fault == LOST
    sure = "" if culprits else "; look at it, or take a second sample, before acting"
    reason = top.findings[0].text
    by = "RAS" if lost else reason.split(":")[0]
    return conclusion(
        case,
        kind=IncidentKind.CRASH if lost and culprits else IncidentKind.HANG,
        cls=VerdictClass.USER if top.fault == MISMATCH else VerdictClass.DISTRIBUTED,
        summary=f"{who}{where} {_DID[top.fault or BEHIND]}, by {by}{sure}.",
        confidence=top.score,
        trace=trace,
        suspects=suspects,
        recommendations=_recommendations(case, culprits, reason),
        decisive=bool(culprits),
    )


def _leaders_only(case: Case, trace: Sequence[str]) -> Conclusion:
    """RAS lists ranks that launched *more*: leaders, in a running job as in a hang."""
    return conclusion(
        case,
        kind=IncidentKind.NONE,
        cls=VerdictClass.UNKNOWN,
        summary=(
            "RAS counts differ because a few ranks are ahead of the others: leaders are not to "
            "blame, and one sample cannot tell who stays behind."
        ),
        confidence=0.4,
        trace=trace,
        recommendations=[Recommendation(Action.WATCH, JOB, _SECOND_SAMPLE)],
    )


def _recommendations(case: Case, culprits: Sequence[Suspect], reason: str) -> list[Recommendation]:
    if not culprits:
        return [Recommendation(Action.WATCH, JOB, _SECOND_SAMPLE)]
    if culprits[0].fault == MISMATCH:
        code = Target(TargetKind.USER_CODE, name="the user's code")
        return [Recommendation(Action.FIX_CODE, code, reason)]
    ranks = [s.target.rank for s in culprits if s.target.rank is not None]
    if len(ranks) == len(culprits) and all(case.target(rank).host for rank in ranks):
        return isolate_and_restart(case, ranks, reason)
    isolated = [Recommendation(Action.ISOLATE_HOST, s.target, reason) for s in culprits]
    without = "it" if len(culprits) == 1 else "them"
    return [*isolated, Recommendation(Action.RESTART_JOB, JOB, f"Restart without {without}.")]


def _trace(reports: CollectiveReports) -> list[str]:
    parts = [
        count(len({report.rank for report in reports.work}), "watchdog"),
        count(len(reports.mismatches), "RAS mismatch"),
        count(len(reports.lost), "lost process"),
        count(len(reports.statements), "statement"),
    ]
    lines = [f"counters in logs: {', '.join(parts)}"]
    for item in reports.mismatches:
        *fewer, most = item.counts
        if sum(row.number for row in fewer) > most.number:
            lines.append(
                f"RAS: {most.number} ranks of {item.communicator} lead in {item.operation}; "
                "leaders are not to blame"
            )
    return lines
