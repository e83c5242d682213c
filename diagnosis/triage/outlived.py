"""Errors that the job outlived: it still ran after any collective would have timed out."""

from collections.abc import Sequence

from diagnosis.taxonomy.signature import Stream
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue, Moment

_OF_THE_JOB = {Stream.JOB, Stream.SCHEDULER}


def early_ones(case: Case, clues: Sequence[Clue], errors: Sequence[Clue]) -> list[Clue]:
    """Those of `errors` that any of `clues` may have outlived, by their times alone; mostly none.

    A look at the last clue of each scale, where `outlived` compares each with each.
    """
    last: dict[str, float] = {}
    for clue in clues:
        if clue.moment is not None:
            scale, time = clue.moment.scale, clue.moment.time
            last[scale] = max(time, last.get(scale, time))
    return [
        error
        for error in errors
        if error.moment is not None
        and last.get(error.moment.scale, error.moment.time) - error.moment.time > case.wait
    ]


def outlived(case: Case, clue: Clue, errors: Sequence[Clue]) -> list[Clue]:
    """Those of `errors` that cannot have ended the job, because it was there when `clue` came.

    They began so long before `clue` that a job that waits for what they broke would have timed out.
    A line of the job itself tells by itself that the job was there; of any other line that is known
    where the log with the error goes on until then.
    """
    return [error for error in errors if _began_before(error, clue, case)]


def is_over_before(case: Case, error: Clue, clue: Clue) -> bool:
    """Did also the last such line come that long before?"""
    gap = _gap(error.last if error.count > 1 else error.moment, error, clue)
    return gap is not None and gap > case.wait


def _began_before(error: Clue, clue: Clue, case: Case) -> bool:
    gap = _gap(error.moment, error, clue)
    if gap is None or gap <= case.wait:
        return False
    if clue.signature.stream in _OF_THE_JOB:
        return True
    end = case.last_words.get(error.log)
    later = _gap(end, error, clue)
    return later is not None and later <= case.settings.after_failure


def _gap(earlier: Moment | None, error: Clue, clue: Clue) -> float | None:
    """Seconds from a moment in the error's log to the clue; None where their clocks may differ."""
    later = clue.moment
    if earlier is None or later is None or earlier.scale != later.scale:
        return None
    if error.log != clue.log and earlier.zoned != later.zoned:
        return None
    return later.time - earlier.time
