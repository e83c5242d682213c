"""States of GPUs that a sheet of their host tells (`nvidia-smi -q`): what is so, not since when.

A counter or flag that stands may be the cause and may be old: what happened in time comes first.
"""

from collections.abc import Sequence
from dataclasses import replace

from diagnosis.core.diagnosis import Recommendation
from diagnosis.core.words import Action, IncidentKind, VerdictClass
from diagnosis.taxonomy.signature import Severity
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.places import pci_key
from diagnosis.triage.sheet_states import SHEET_STATES
from diagnosis.triage.suspects import CULPRIT_SCORE, advice, shown, suspect, target_of
from diagnosis.triage.window import failing

#: What a state alone proves, by severity; beside an answer that names a cause at most `BESIDE`.
_SCORES = {Severity.CRITICAL: 0.8, Severity.HIGH: 0.7, Severity.MEDIUM: 0.6}
_LEAST, BESIDE = 0.5, 0.35
_BROKEN = (Severity.CRITICAL, Severity.HIGH)
#: Answers that name no cause, beside which a state is as likely as alone.
_OPEN = (VerdictClass.DISTRIBUTED, VerdictClass.UNKNOWN)
_MOST = 5


def is_state(clue: Clue) -> bool:
    """Does a sheet tell it, as what is so and not as what happened?"""
    return clue.code in SHEET_STATES


def judge_states(case: Case, job: str | None, *, broken: bool = False) -> Outcome | None:
    """The outcome when nothing that happened explains the incident, but a GPU's state may.

    `broken`: only where the board qualifies for return.
    """
    groups = _by_gpu(case)
    if not groups or (broken and groups[0][0].signature.severity not in _BROKEN):
        return None
    first, failed = groups[0][0], bool(failing(case))
    scores = [min(_score(group[0]), 1 / len(groups) + 0.3) for group in groups]
    others = f", as does that of {len(groups) - 1} more GPUs" if len(groups) > 1 else ""
    return Outcome(
        cls=VerdictClass.CRITICAL if broken else VerdictClass.DEGRADATION,
        kind=IncidentKind.CRASH if failed else IncidentKind.DEGRADATION,
        summary=(
            f"{shown(target_of(first))}: {first.signature.title}; since when, the sheet does not "
            f"tell{others}; {_todo(first)}."
        ),
        confidence=scores[0],
        suspects=tuple(
            suspect(target_of(group[0]), score, group)
            for group, score in zip(groups[:_MOST], scores, strict=False)
        ),
        recommendations=tuple(_advised(groups, job, restart=failed)),
        trace=(f"states of {_counted(groups)} that a sheet tells; strongest {first.code}",),
        decisive=scores[0] >= CULPRIT_SCORE,
    )


def with_states(outcome: Outcome, case: Case) -> Outcome:
    """The outcome, with GPUs whose state asks for action as possible suspects below its own."""
    told = {(one.target.host, pci_key(str(one.target.gpu))) for one in outcome.suspects}
    groups = [
        group
        for group in _by_gpu(case)
        if (group[0].place.host, pci_key(group[0].place.gpu)) not in told
    ]
    if not groups:
        return outcome
    most = _LEAST if outcome.cls in _OPEN else BESIDE
    most = min([most, *(one.score for one in outcome.suspects)])
    codes = ", ".join(sorted({clue.code for group in groups for clue in group}))
    return replace(
        outcome,
        suspects=(
            *outcome.suspects,
            *(suspect(target_of(group[0]), most, group) for group in groups[:_MOST]),
        ),
        recommendations=(*outcome.recommendations, *_advised(groups, None, restart=False)),
        trace=(*outcome.trace, f"beside that: states of {_counted(groups)} ({codes})"),
    )


def _by_gpu(case: Case) -> list[list[Clue]]:
    """The states of each GPU, strongest first."""
    found: dict[tuple[str | None, str | None], list[Clue]] = {}
    for clue in case.clues:
        if is_state(clue):
            found.setdefault((clue.place.machine, pci_key(clue.place.gpu)), []).append(clue)
    groups = [sorted(group, key=_strength, reverse=True) for group in found.values()]
    return sorted(groups, key=lambda group: _strength(group[0]), reverse=True)


def _strength(clue: Clue) -> tuple[int, int]:
    return clue.strength


def _score(clue: Clue) -> float:
    return _SCORES.get(clue.signature.severity, _LEAST)


def _counted(groups: Sequence[object]) -> str:
    return f"{len(groups)} GPU{'s' * (len(groups) != 1)}"


def _advised(
    groups: Sequence[Sequence[Clue]], job: str | None, *, restart: bool
) -> list[Recommendation]:
    """Each GPU's own action, one for each host that is to be isolated; then the job's restart."""
    found: list[Recommendation] = []
    again: list[Recommendation] = []
    for group in groups[:_MOST]:
        signature = group[0].signature
        reason = f"{signature.title}: {signature.explanation}"
        own, *again = advice(signature.action, target_of(group[0]), reason, job)
        if not any((one.action, one.target) == (own.action, own.target) for one in found):
            found.append(own)
    return [*found, *again] if restart else found


def _todo(clue: Clue) -> str:
    host = clue.place.host or "its host"
    if clue.signature.action is Action.ISOLATE_HOST:
        return f"isolate {host}, the board qualifies for return"
    return f"drain {host} and reset the GPU"
