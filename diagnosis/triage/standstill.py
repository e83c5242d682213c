"""Rungs over the watchdogs' words: a call that differs is user code; a silent rank is possible."""

from collections.abc import Sequence

from diagnosis.core.diagnosis import Recommendation
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, SignatureClass, TargetKind, VerdictClass
from diagnosis.triage.case import Case
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.silence import silent_hosts
from diagnosis.triage.suspects import job_target, shown, suspect
from diagnosis.triage.watchdogs import Standstill, standstills

#: More silent ranks than this say nothing: most logs were simply not handed in.
MAX_SILENT = 4


def judge_mismatch(case: Case) -> Outcome | None:
    """Ranks that wait in different calls: the minority's code path diverged."""
    for still in standstills(case):
        if still.odd:
            return _mismatch(case, still)
    return None


def _mismatch(case: Case, still: Standstill) -> Outcome:
    score = 0.5 if still.tied else 0.85
    suspects = []
    for one in still.waiting:
        if one.rank in still.odd:
            place = case.placement.target_of_rank(one.rank)
            target = Target(
                TargetKind.USER_CODE,
                name=f"rank {one.rank}: {one.operation} #{one.sequence}",
                host=place.host or one.clue.place.host,
                rank=one.rank,
            )
            suspects.append(suspect(target, score, [one.clue]))
    usual = next((one for one in still.waiting if one.rank not in still.odd), None)
    ranks = ", ".join(str(rank) for rank in still.odd[:8])
    than = f" ({usual.operation} #{usual.sequence})" if usual else ""
    summary = (
        f"Rank {ranks} waits in {still.odd_reason}{than}: the ranks' code paths diverged; "
        "tell the owner of the code, isolate nothing."
    )
    if still.tied:
        summary = (
            f"Ranks {ranks} wait in different collectives and no side is the majority: the ranks' "
            "code paths diverged; tell the owner of the code, isolate nothing."
        )
    return Outcome(
        cls=VerdictClass.USER,
        kind=IncidentKind.HANG,
        summary=summary,
        confidence=0.85,
        suspects=tuple(suspects[:8]),
        recommendations=(
            Recommendation(
                Action.FIX_CODE, suspects[0].target, "Its call differs from its peers'."
            ),
        ),
        trace=(
            (
                f"watchdogs of {len(still.waiting)} ranks of group {still.group}: "
                f"rank {ranks} waits in {still.odd_reason}"
            ),
        ),
        decisive=not still.tied,
    )


def judge_silent_host(case: Case, job: str | None) -> Outcome | None:
    """A host whose log ended before the others failed: possible, until something confirms it."""
    silent = silent_hosts(case)
    if not silent or len(silent) > MAX_SILENT:
        return None
    score = 0.6 / len(silent)
    suspects = [
        suspect(Target(TargetKind.HOST, name=host, host=host), score, (), fault="silence")
        for host in sorted(silent, key=lambda host: (-silent[host], host))
    ]
    host = suspects[0].target.host or ""
    text = (
        f"the log of {host} ends {silent[host]:.0f} s before the first failure that others report"
    )
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.HANG if has_timeouts(case) else IncidentKind.CRASH,
        summary=(
            f"{text[0].upper()}{text[1:]}: it may have gone first. Look whether it is up before "
            "anything is isolated, and restart the job."
        ),
        confidence=score,
        suspects=tuple(suspects),
        recommendations=(
            Recommendation(Action.RESTART_JOB, job_target(job), f"{host} may be down."),
        ),
        trace=(f"silence: {text} → possible",),
    )


def judge_silent(case: Case, job: str | None) -> Outcome | None:
    """Everyone who speaks waits in one call; the few who say nothing may be the cause."""
    found = standstills(case)
    if not found:
        return None
    still = found[0]
    quiet: Sequence[int] = still.behind
    why = "has not come to it"
    if not quiet:
        quiet, why = still.relaying, "only passes on another rank's signal"
    if not quiet and 0 < len(still.silent) <= MAX_SILENT and len(still.waiting) > len(still.silent):
        quiet, why = still.silent, "says nothing"
    if not quiet or len(quiet) > MAX_SILENT:
        return None
    score = (
        min(0.7, 0.7 / len(quiet)) if still.behind or still.relaying else min(0.5, 0.5 / len(quiet))
    )
    suspects = [
        suspect(case.placement.target_of_rank(rank), score, (), fault="c10d-watchdog-timeout")
        for rank in quiet
    ]
    ranks = ", ".join(str(rank) for rank in quiet)
    waiting = sum(one.rank not in quiet for one in still.waiting)
    where = shown(suspects[0].target)
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.HANG,
        summary=(
            f"{waiting} ranks wait in the same collective and rank {ranks} {why}: "
            f"it may not have arrived. Look at {where} before anything is isolated."
        ),
        confidence=score,
        suspects=tuple(suspects),
        recommendations=(
            Recommendation(Action.RESTART_JOB, job_target(job), "The ranks wait for each other."),
        ),
        trace=(f"by their logs {waiting} ranks wait alike; rank {ranks} {why} → possible",),
    )


def has_timeouts(case: Case) -> bool:
    return any(clue.report for clue in case.of(SignatureClass.DISTRIBUTED, follow_on=True))
