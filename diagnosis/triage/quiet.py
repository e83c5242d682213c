"""The last rungs: something slows down, a rank ended without a reason, or nothing at all."""

from diagnosis.core.diagnosis import Recommendation
from diagnosis.core.target import Target
from diagnosis.core.words import (
    Action,
    IncidentKind,
    SignatureClass,
    TargetKind,
    VerdictClass,
)
from diagnosis.taxonomy.signature import Severity
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue
from diagnosis.triage.departures import rank_suspect
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.suspects import advice, by_machine, job_target, shown, suspect, target_of
from diagnosis.triage.timeline import day_text

#: Signals that say what kind of cause it was (segmentation fault, too little shared memory).
_TELLING_EXITS = {"torchrun-exit-segv", "torchrun-exit-bus"}

_SCORES = {Severity.CRITICAL: 0.7, Severity.HIGH: 0.7, Severity.MEDIUM: 0.6}


def judge_degradation(case: Case) -> Outcome | None:
    """A part that works, but slowly or with corrected errors."""
    clues = case.of(SignatureClass.DEGRADATION)
    if not clues:
        return None
    ranked = sorted(clues, key=lambda clue: (clue.strength, clue.count), reverse=True)
    cause = ranked[0]
    target = target_of(cause)
    score = _SCORES.get(cause.signature.severity, 0.5)
    own = [clue for clue in ranked if clue.place.machine == cause.place.machine]
    suspects = [suspect(target, score, own)]
    for machine, group in by_machine(ranked).items():
        if machine != cause.place.machine:
            suspects.append(suspect(target_of(group[0]), min(0.4, 1 - score), group))
    at = day_text(cause.moment)
    return Outcome(
        cls=VerdictClass.DEGRADATION,
        kind=IncidentKind.DEGRADATION,
        summary=(
            f"{shown(target) or 'The job'}: {cause.signature.title.lower()}"
            f"{f' since {at}' if at else ''}, {cause.count} lines; nothing has failed. "
            "Keep watching it."
        ),
        confidence=score,
        suspects=tuple(suspects[:10]),
        recommendations=tuple(
            advice(cause.signature.action, target, cause.signature.explanation, None)[:1]
        ),
        trace=(f"{len(clues)} findings of degradation, strongest {cause.code}",),
    )


def judge_exits(case: Case, job: str | None) -> Outcome | None:
    """A process ended and nothing says why: no verdict about hardware."""
    ended = case.ended_ranks
    exits = [c for c in case.clues if c.signature.follow_on and tells_exit(c)]
    if (not ended and not exits) or any(clue.code in _TELLING_EXITS for clue in exits):
        return None
    suspects = []
    for rank in sorted(ended):
        own = [clue for clue in exits if clue.place.rank == rank]
        suspects.append(rank_suspect(case, rank, own, min(0.5, 0.7 / len(ended))))
    names = ", ".join(f"rank {rank} ({why})" for rank, why in sorted(ended.items())[:3])
    return Outcome(
        cls=VerdictClass.UNKNOWN,
        kind=IncidentKind.CRASH,
        summary=(
            f"{names[0].upper() + names[1:] if names else 'A process ended'}; nothing in these "
            "logs says why, and an exit alone proves nothing about hardware. Look for the "
            "out-of-memory killer in the host's kernel log, then restart the job."
        ),
        confidence=0.4,
        suspects=tuple(suspects[:8]),
        recommendations=(
            Recommendation(Action.RESTART_JOB, job_target(job), "No part is shown to be bad."),
        ),
        trace=(f"{len(ended)} ranks ended, without a reason in these logs",),
    )


def tells_exit(clue: Clue) -> bool:
    """Does the line only report that a process ended?"""
    return clue.code.startswith(("torchrun-exit", "slurm-task-exit", "mpi-abort", "deepspeed-l"))


def judge_nothing(case: Case) -> Outcome:
    """No line that means anything: honest ignorance, not health."""
    return Outcome(
        cls=VerdictClass.UNKNOWN,
        kind=IncidentKind.NONE,
        summary="No line of these logs tells of a fault; they do not show that all is well either.",
        confidence=0.3,
        recommendations=(
            Recommendation(
                Action.NONE,
                Target(TargetKind.NONE),
                "Hand in the kernel logs of the hosts, or collective dumps of the ranks.",
            ),
        ),
        trace=("no finding above information",),
    )
