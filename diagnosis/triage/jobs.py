"""Several jobs in one call: each judged by itself, and one verdict about a host that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from diagnosis.core.diagnosis import Conclusion, Recommendation, Verdict
from diagnosis.core.placement import Placement
from diagnosis.core.target import Target, normalise_host
from diagnosis.core.words import (
    Action,
    IncidentKind,
    Role,
    SignatureClass,
    TargetKind,
    VerdictClass,
)
from diagnosis.triage.case import Case, build_case
from diagnosis.triage.clues import Clue
from diagnosis.triage.ladder import climb
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.scan import Scan
from diagnosis.triage.settings import TriageSettings
from diagnosis.triage.suppressed import listed
from diagnosis.triage.suspects import advice, suspect

_WORST_FIRST = (
    VerdictClass.CRITICAL,
    VerdictClass.STORAGE,
    VerdictClass.CONFIG,
    VerdictClass.DISTRIBUTED,
    VerdictClass.USER,
    VerdictClass.DEGRADATION,
    VerdictClass.UNKNOWN,
    VerdictClass.HEALTHY,
)


def conclude_jobs(
    whole: Case, scans: Sequence[Scan], placement: Placement, settings: TriageSettings
) -> Conclusion:
    """One conclusion from the logs of one job or of several; `whole` is the case of them all."""
    jobs = sorted({scan.origin.job for scan in scans if scan.origin.job})
    if len(jobs) < 2:
        return _conclusion(climb(whole, jobs[0] if jobs else None), whole)
    outcomes = {job: climb(build_case(scans, placement, settings, job=job), job) for job in jobs}
    shared = _shared_host(whole, settings)
    if shared is not None:
        return _conclusion(_with_traces(shared, outcomes), whole)
    first = min(jobs, key=lambda job: (_rank_of(outcomes[job]), job))
    return _conclusion(_with_others(first, outcomes), whole)


def _rank_of(outcome: Outcome) -> tuple[int, float]:
    return (_WORST_FIRST.index(outcome.cls), -outcome.confidence)


def _shared_host(whole: Case, settings: TriageSettings) -> Outcome | None:
    """A host on which the same hardware fault ended several jobs."""
    hits: dict[tuple[str, str], list[Clue]] = {}
    for clue in whole.of(SignatureClass.CRITICAL):
        if clue.job and clue.place.host:
            hits.setdefault((normalise_host(clue.place.host), clue.code), []).append(clue)
    ranked = sorted(hits, key=lambda key: (-len({c.job for c in hits[key]}), key))
    if not ranked:
        return None
    clues = hits[ranked[0]]
    jobs = sorted({clue.job for clue in clues if clue.job})
    if len(jobs) < settings.escalation_jobs:
        return None
    host = clues[0].place.host
    target = Target(TargetKind.HOST, name=host, host=host, gpu=_one_gpu(clues))
    title = clues[0].signature.title
    text = f"{title} in {len(jobs)} jobs ({', '.join(jobs[:5])}) on {host}"
    return Outcome(
        cls=VerdictClass.CRITICAL,
        kind=IncidentKind.CRASH,
        summary=f"{text}: the host is bad, not the jobs; isolate {host} and restart them.",
        confidence=0.95,
        suspects=(suspect(target, 0.95, clues),),
        recommendations=tuple(advice(Action.ISOLATE_HOST, target, text, None)),
        trace=(f"{text} → isolate {host}",),
        decisive=True,
    )


def _one_gpu(clues: Sequence[Clue]) -> str | None:
    gpus = {clue.place.gpu for clue in clues if clue.place.gpu}
    return gpus.pop() if len(gpus) == 1 else None


def _with_traces(shared: Outcome, outcomes: Mapping[str, Outcome]) -> Outcome:
    trace = [f"job {job}: {line}" for job, one in sorted(outcomes.items()) for line in one.trace]
    return replace(shared, trace=(*trace, *shared.trace))


def _with_others(first: str, outcomes: Mapping[str, Outcome]) -> Outcome:
    """The worst job's outcome, with the others' suspects below it and their advice beside it."""
    lead = outcomes[first]
    suspects = list(lead.suspects)
    recommendations: list[Recommendation] = list(lead.recommendations)
    for job, outcome in sorted(outcomes.items()):
        if job != first:
            suspects += [
                one if one.role is Role.VICTIM else replace(one, role=Role.POSSIBLE)
                for one in outcome.suspects
            ]
            recommendations += [
                item
                for item in outcome.recommendations
                if item.action is not Action.NONE and item not in recommendations
            ]
    also = [
        f"job {job}: {outcome.summary}" for job, outcome in sorted(outcomes.items()) if job != first
    ]
    return replace(
        _with_traces(lead, outcomes),
        summary=f"Job {first}: {lead.summary} Other jobs: {' '.join(also)}",
        suspects=tuple(suspects),
        recommendations=tuple(recommendations),
        trace=_with_traces(replace(lead, trace=()), outcomes).trace,
    )


def _conclusion(outcome: Outcome, case: Case) -> Conclusion:
    expected = {normalise_host(host) for host in case.placement.hosts}
    coverage: dict[str, object] = {
        "logs": len(case.scans),
        "hosts_with_logs": len(case.log_hosts),
        "ranks_that_speak": len(case.ranks),
    }
    if case.silenced:
        coverage["suppressed"] = list(listed(case.silenced))
    if expected:
        coverage["hosts_expected"] = len(expected)
        coverage["hosts_without_logs"] = sorted(expected - case.log_hosts)[:50]
        coverage["ranks_expected"] = len(case.placement)
    return Conclusion(
        branch="triage",
        verdict=Verdict(
            kind=outcome.kind,
            cls=outcome.cls,
            summary=outcome.summary,
            confidence=outcome.confidence,
            coverage=coverage,
        ),
        suspects=outcome.suspects,
        recommendations=outcome.recommendations,
        trace=outcome.trace,
        decisive=outcome.decisive,
    )
