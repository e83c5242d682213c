"""Rung 0: the job was called off from outside, and the errors of its end follow from that."""

from collections.abc import Sequence

from diagnosis.core.diagnosis import Recommendation, Suspect
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, SignatureClass, TargetKind, VerdictClass
from diagnosis.taxonomy.signature import Severity
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue, earliest, is_before
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.software import is_fallback
from diagnosis.triage.standing import is_state
from diagnosis.triage.suspects import by_machine, job_target, suspect, target_of
from diagnosis.triage.timeline import day_text

#: Signature → what became of the job, what that is called, and why to start it again.
NOTICES = {
    "slurm-preempted": ("was preempted", "preemption", "Its hosts were taken from it."),
    "slurm-time-limit": ("reached its time limit", "time limit", "Its time was up."),
}

_FAILURES = (
    SignatureClass.CRITICAL,
    SignatureClass.USER,
    SignatureClass.STORAGE,
    SignatureClass.CONFIG,
    SignatureClass.DISTRIBUTED,
)
_IDLE = {Action.WATCH, Action.NONE}


def judge_called_off(case: Case, job: str | None) -> Outcome | None:
    """The outcome when a notice calls the job off before all that failed, else None.

    Hardware whose order against the notice nothing tells, wins over it. A notice that the job
    outlived is none of its end.
    """
    notices = earliest(clue for clue in case.clues if clue.code in NOTICES)
    if not notices:
        return None
    notice = notices[0]
    failures = [clue for clue in case.of(*_FAILURES) if _counts(clue)]
    late = [clue for clue in failures if is_before(notice, clue) is True]
    if any(_is_the_cause(clue, notice, case) for clue in failures):
        return None
    if late and not any(_soon(one, clue, case) for one in notices for clue in late):
        return None
    unsure = any(is_before(notice, clue) is None for clue in failures)
    score = 0.7 if unsure else 0.9
    at = day_text(notice.moment)
    became, name, why = NOTICES[notice.code]
    target = Target(TargetKind.CONFIG, name=name, host=notice.place.host)
    follows = "; the errors after it follow from it" if late else ""
    return Outcome(
        cls=VerdictClass.CONFIG,
        kind=IncidentKind.CRASH,
        summary=(
            f"The job {became}{f' at {at}' if at else ''}{follows}. Nothing is broken: "
            "restart it from its last checkpoint."
        ),
        confidence=score,
        suspects=(suspect(target, score, notices), *_hardware(late)),
        recommendations=(Recommendation(Action.RESTART_JOB, job_target(job), why),),
        trace=(
            f"a notice ({notice.code}) before {len(late)} of {len(failures)} failures, after none",
        ),
        decisive=score >= 0.8,
    )


def _counts(clue: Clue) -> bool:
    """Does it say that something fails? A fallback or a state says too little."""
    return clue.signature.action not in _IDLE and not is_state(clue) and not is_fallback(clue)


def _is_the_cause(clue: Clue, notice: Clue, case: Case) -> bool:
    """Did it end the job before the notice came?

    Peers that are stopped one after another lose each other, by clocks that disagree, and their
    streams are joined in any order: just before the notice that proves nothing. A time-out began
    long before it is told.
    """
    timed_out = clue.report is not None and clue.report.timed_out
    if clue.signature.cls is SignatureClass.DISTRIBUTED and not timed_out:
        return _long_before(clue, notice, case)
    before = is_before(notice, clue)
    if before is None:
        return clue.signature.cls is SignatureClass.CRITICAL
    return not before


def _long_before(clue: Clue, notice: Clue, case: Case) -> bool:
    one, other = clue.moment, notice.moment
    if one is None or other is None or one.scale != other.scale:
        return False
    return other.time - one.time > case.settings.clock_doubt


def _soon(notice: Clue, clue: Clue, case: Case) -> bool:
    """Does the failure come while whoever lost a peer still waits for it?"""
    one, other = notice.moment, clue.moment
    if one is None or other is None or one.scale != other.scale:
        return True
    return other.time - one.time <= case.wait


def _hardware(late: Sequence[Clue]) -> tuple[Suspect, ...]:
    """Machines whose own log calls a part broken after the notice: possible, no more."""
    hard = [
        clue
        for clue in late
        if clue.signature.cls is SignatureClass.CRITICAL
        and clue.signature.severity is Severity.CRITICAL
    ]
    groups = list(by_machine(hard).values())
    return tuple(suspect(target_of(group[0]), 0.3, group) for group in groups[:5])
