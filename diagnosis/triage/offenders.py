"""Repeat offenders in the ranking: they break ties between suspects, and nothing else.

Where the evidence of this incident makes one suspect likelier than another, their order stays.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from diagnosis.core.diagnosis import Diagnosis, Finding, Suspect
from diagnosis.core.words import Role
from diagnosis.taxonomy.history import History

#: From this score on a host's history is told beside the evidence.
WORTH_TELLING = 0.15
#: Scores that are equal to this many decimals, those of the contract, are a tie.
_DECIMALS = 4


def with_offenders(answer: Diagnosis, history: History) -> Diagnosis:
    """The diagnosis with possible suspects of one score in the order of their hosts' history.

    Scores stay, and so does the place of every culprit and victim. The history stands beside the
    suspects as a finding without weight, and the trace says where it decided.
    """
    if not history.offences:
        return answer
    suspects: list[Suspect] = []
    told: list[str] = []
    for (tied, _), group in groupby(answer.suspects, key=_standing):
        members = list(group)
        ordered = sorted(members, key=lambda one: -_offence(one, history)) if tied else members
        if ordered != members:
            told.append(_told(ordered, history))
        suspects += ordered
    return replace(
        answer,
        suspects=tuple(_with_history(one, history) for one in suspects),
        trace=(*answer.trace, *told),
    )


def _standing(suspect: Suspect) -> tuple[bool, tuple[object, ...]]:
    """Equal for suspects that only the history can tell apart; never so for a named culprit."""
    possible = suspect.role is Role.POSSIBLE
    own = suspect.score if possible else suspect.target.key
    return possible, (suspect.role, round(own, _DECIMALS) if isinstance(own, float) else own)


def _offence(suspect: Suspect, history: History) -> float:
    found = history.offences_of(suspect.target.host)
    return found.score if found else 0.0


def _told(ordered: Sequence[Suspect], history: History) -> str:
    first, last = ordered[0], ordered[-1]
    return (
        f"{first.target.host} stands before {last.target.host or last.target.name} at equal "
        f"evidence: repeat-offender score {_offence(first, history):.2f} against "
        f"{_offence(last, history):.2f}"
    )


def _with_history(suspect: Suspect, history: History) -> Suspect:
    found = history.offences_of(suspect.target.host)
    if found is None or found.score < WORTH_TELLING or suspect.role is Role.VICTIM:
        return suspect
    text = f"{suspect.target.host}: {found.words} (repeat-offender score {found.score:.2f})"
    known = Finding("history", suspect.target, text, evidence=None, weight=0.0)
    return replace(suspect, findings=(*suspect.findings, known))
