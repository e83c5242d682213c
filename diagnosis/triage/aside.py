"""Told beside the answer: faults of code, configuration or storage that it does not rest on."""

from collections.abc import Sequence
from dataclasses import replace

from diagnosis.core.diagnosis import Suspect
from diagnosis.core.words import SignatureClass, VerdictClass
from diagnosis.taxonomy.signature import Severity
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue, earliest
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.software import asks_for_action, is_fallback
from diagnosis.triage.suspects import shown, suspect, target_of
from diagnosis.triage.timeline import day_text

#: Answers that name no cause, or leave room for another.
_OPEN = {VerdictClass.DISTRIBUTED, VerdictClass.UNKNOWN, VerdictClass.DEGRADATION}
#: How many different faults are told one by one.
MOST = 3
#: The score of a fault beside an answer that names no cause: it came too late to be one.
SCORE = 0.3


def with_asides(outcome: Outcome, case: Case) -> Outcome:
    """The outcome; what else asks for action goes into its trace.

    Where the outcome names no cause, the most severe becomes a possible suspect and is told in the
    summary too.
    """
    found = _untold(outcome, case)
    if not found:
        return outcome
    lines = [_line(group) for group in found[:MOST]]
    more = f" and {len(found) - MOST} other faults" if len(found) > MOST else ""
    outcome = replace(outcome, trace=(*outcome.trace, f"beside that: {', '.join(lines)}{more}"))
    if outcome.cls not in _OPEN or outcome.decisive:
        return outcome
    beside = [_suspect(outcome, group) for group in found[:MOST]]
    return replace(
        outcome,
        summary=f"{outcome.summary} Also there: {_words(found[0][0])}.",
        suspects=(*outcome.suspects, *beside),
    )


def _untold(outcome: Outcome, case: Case) -> list[list[Clue]]:
    """Clues by signature that no suspect rests on, most severe first."""
    told = {finding.detector for one in outcome.suspects for finding in one.findings}
    groups: dict[str, list[Clue]] = {}
    for clue in earliest(
        case.of(SignatureClass.USER, SignatureClass.CONFIG, SignatureClass.STORAGE)
    ):
        is_told = f"signature:{clue.code}" in told
        if asks_for_action(clue) and not is_fallback(clue) and not is_told:
            groups.setdefault(clue.code, []).append(clue)
    return sorted(groups.values(), key=lambda group: group[0].strength, reverse=True)


def _line(clues: Sequence[Clue]) -> str:
    lines = sum(clue.count for clue in clues)
    return f"{lines} line{'s' if lines > 1 else ''} of {clues[0].code} ({_words(clues[0])})"


def _words(clue: Clue) -> str:
    where, at = shown(target_of(clue)), day_text(clue.moment)
    return f"{clue.signature.title}{f' on {where}' if where else ''}{f' at {at}' if at else ''}"


def _suspect(outcome: Outcome, clues: Sequence[Clue]) -> Suspect:
    least = min((one.score for one in outcome.suspects), default=SCORE)
    high = clues[0].signature.severity.weight >= Severity.MEDIUM.weight
    return suspect(target_of(clues[0]), min(SCORE if high else SCORE / 2, least), clues)
