"""Errors that the job outlived: it still ran after any collective would have timed out."""

from collections.abc import Sequence

from diagnosis.taxonomy.signature import Stream
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue, Moment
from diagnosis.triage.timeline import on_utc

_OF_THE_JOB = {Stream.JOB, Stream.SCHEDULER}


def wait_of(case: Case) -> float:
    """Seconds after which a job whose collective failed has ended: time-out, then tear-down."""
    told = [c.report.timeout_ms for c in case.clues if c.report and c.report.timeout_ms]
    timeout = max(told, default=0) / 1000 or case.settings.collective_timeout
    return timeout + case.settings.after_failure


def outlived(case: Case, clue: Clue, errors: Sequence[Clue]) -> list[Clue]:
    """Those of `errors` that cannot have ended the job, because it was there when `clue` came.

    They began so long before `clue` that a job that waits for what they broke would have timed out.
    A line of the job itself tells by itself that the job was there; of any other line that is known
    where the log with the error goes on until then.
    """
    wait = wait_of(case)
    return [error for error in errors if _began_before(error, clue, wait, case)]


def is_over_before(error: Clue, clue: Clue, wait: float) -> bool:
    """Did also the last such line come more than `wait` seconds before?"""
    gap = _gap(error.last if error.count > 1 else error.moment, error, clue)
    return gap is not None and gap > wait


def _began_before(error: Clue, clue: Clue, wait: float, case: Case) -> bool:
    gap = _gap(error.moment, error, clue)
    if gap is None or gap <= wait:
        return False
    if clue.signature.stream in _OF_THE_JOB:
        return True
    end = _last_word(case, error.evidence)
    later = _gap(end, error, clue)
    return later is not None and later <= case.settings.after_failure


def _gap(earlier: Moment | None, error: Clue, clue: Clue) -> float | None:
    """Seconds from a moment in the error's log to the clue; None where their clocks may differ."""
    later = clue.moment
    if earlier is None or later is None or earlier.scale != later.scale:
        return None
    if error.evidence != clue.evidence and earlier.zoned != later.zoned:
        return None
    return later.time - earlier.time


def _last_word(case: Case, evidence: str) -> Moment | None:
    for scan in case.scans:
        if scan.evidence.name == evidence and scan.facts.last is not None:
            return on_utc(scan.facts.last, case.near, scan.facts.boot)
    return None
