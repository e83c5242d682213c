"""Rung 1: a part that its own log calls bad."""

from collections.abc import Sequence
from dataclasses import replace

from diagnosis.core.diagnosis import Recommendation, Suspect
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, SignatureClass, VerdictClass
from diagnosis.taxonomy.signature import Severity, Stream
from diagnosis.triage.case import Case
from diagnosis.triage.clocks import order_doubt
from diagnosis.triage.clues import Clue, earliest
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.places import pci_key
from diagnosis.triage.standing import is_state
from diagnosis.triage.suspects import advice, by_machine, part_target, shown, suspect, target_of
from diagnosis.triage.timeline import day_text

_IDLE = {Action.WATCH, Action.NONE}
_AT_BOTH_ENDS = {"nvlink", "nvswitch"}
_REMAP_FAILED = {"xid-64-row-remap-failure", "xid-95-uncontained-memory-error"}
_NETWORK = {"nic", "switch", "optics"}
_SCORES = {
    Severity.CRITICAL: 0.92,
    Severity.HIGH: 0.87,
    Severity.MEDIUM: 0.7,
    Severity.LOW: 0.55,
    Severity.INFO: 0.5,
}


def judge_critical(case: Case, job: str | None, *, also_idle: bool = False) -> Outcome | None:
    """The outcome when critical clues stand, else None.

    `also_idle`: take those whose action is only to watch too, and consequences: the last resort.
    """
    found = case.of(SignatureClass.CRITICAL, follow_on=also_idle)
    standing = [clue for clue in found if not is_state(clue)]
    if not also_idle:
        standing = [clue for clue in standing if clue.signature.action not in _IDLE]
    if not standing:
        return None
    groups = _ranked_groups(standing)
    first = groups[0]
    cause = _cause_of(first)
    action, target = _action(cause, case), _target(cause, first)
    if len(groups) > 1 and _is_both_ends(cause):
        action = Action.CHECK_LINK
    doubt = _doubt(case, groups)
    score = _score(cause, groups, doubt)
    suspects = [suspect(target, score, [cause, *(c for c in first if c is not cause)])]
    recommendations = advice(action, target, _reason(cause, action), job)
    for group in groups[1:]:
        other = _cause_of(group)
        tied = _speaks_for_itself(other, case) and _at_once(cause, other)
        suspects.append(_other_suspect(other, group, score, tied=tied))
        recommendations += _also_advised(other, case)
    at = day_text(cause.moment)
    unsure = f" (another host may have been first: {doubt})" if doubt else ""
    summary = (
        f"{shown(target)}: {cause.signature.title}"
        f"{f' at {at}' if at else ''}{unsure}; {_todo(action, target)}."
    )
    return Outcome(
        cls=_class(cause, case),
        kind=IncidentKind.CRASH,
        summary=summary,
        confidence=score,
        suspects=tuple(suspects),
        recommendations=tuple(recommendations),
        trace=(
            _trace(groups, cause, target, action),
            *([f"clock doubt: {doubt}; the confidence is lowered"] if doubt else []),
        ),
        decisive=not also_idle and score >= 0.8,
    )


def _is_both_ends(cause: Clue) -> bool:
    """An NVLink error that an application reports: its other end reports it too."""
    return not _is_firsthand(cause) and cause.signature.component in _AT_BOTH_ENDS


def _ranked_groups(standing: Sequence[Clue]) -> list[list[Clue]]:
    """Clues by machine, the earliest machine first; without times, the strongest.

    Kernel, BMC and switch lines come before what an application says of the same event.
    """
    ordered = earliest(standing)
    groups = list(by_machine(ordered).values())
    told = [(group, any(_is_firsthand(clue) for clue in group)) for group in groups]
    hard = [group for group, firsthand in told if firsthand]
    rest = [group for group, firsthand in told if not firsthand]
    timed = all(group[0].moment is not None for group in groups)
    scales = {group[0].moment.scale for group in groups if group[0].moment}
    if timed and len(scales) == 1:
        return hard + rest
    return sorted(hard, key=_strength, reverse=True) + sorted(rest, key=_strength, reverse=True)


def _strength(group: Sequence[Clue]) -> tuple[int, int]:
    return max(clue.strength for clue in group)


def _is_firsthand(clue: Clue) -> bool:
    return clue.signature.stream not in {Stream.JOB, Stream.SCHEDULER}


def _cause_of(group: Sequence[Clue]) -> Clue:
    """The clue of a machine that says most: a GPU behind its NVLink errors, then by strength."""
    behind = [clue for clue in group if clue.signature.component not in _AT_BOTH_ENDS]
    linked = [clue for clue in group if clue.signature.component in _AT_BOTH_ENDS]
    candidates = behind if behind and linked else list(group)
    own = [clue for clue in candidates if not clue.signature.follow_on] or candidates
    strongest = max(clue.strength for clue in own)
    return next(clue for clue in earliest(own) if clue.strength == strongest)


def _action(cause: Clue, case: Case) -> Action:
    """The signature's action; a double-bit error whose row remap waits is cured by a reset."""
    if cause.code != "xid-48-double-bit-ecc":
        return cause.signature.action
    codes = case.told_of_gpus.get((cause.place.machine, pci_key(cause.place.gpu)), set())
    remapped = "xid-63-row-remap-event" in codes and not codes & _REMAP_FAILED
    return Action.RESET_GPU if remapped else cause.signature.action


def _target(cause: Clue, group: Sequence[Clue]) -> Target:
    """The cause's part; its rank where another line of the same machine tells it."""
    ranks = {clue.place.rank for clue in group if clue.place.rank is not None}
    if cause.place.rank is None and len(ranks) == 1:
        place = replace(cause.place, rank=ranks.pop())
        return part_target(cause.signature.implicates, place)
    return target_of(cause)


def _doubt(case: Case, groups: Sequence[Sequence[Clue]]) -> str | None:
    """Why the first machine may not have been the first."""
    if len(groups) < 2:
        return None
    return order_doubt(case, earliest(groups[0])[0], earliest(groups[1])[0])


def _score(cause: Clue, groups: Sequence[Sequence[Clue]], doubt: str | None) -> float:
    score = _SCORES[cause.signature.severity]
    if cause.signature.action in _IDLE or cause.signature.follow_on:
        score = min(score, 0.6)
    if not cause.place.is_known:
        score = min(score, 0.6)
    if doubt is not None:
        score = min(score, 0.6 if len(groups) == 2 else 0.5)
    return score


def _other_suspect(other: Clue, group: Sequence[Clue], score: float, *, tied: bool) -> Suspect:
    return suspect(target_of(other), score if tied else min(0.5, 1.2 - score), group)


def _speaks_for_itself(clue: Clue, case: Case) -> bool:
    """Hardware that its own machine's log calls broken, whatever else broke beside it."""
    return (
        _is_firsthand(clue)
        and clue.signature.component not in _AT_BOTH_ENDS | _NETWORK
        and clue.signature.severity is Severity.CRITICAL
        and _action(clue, case) in {Action.ISOLATE_HOST, Action.RESET_GPU}
    )


def _at_once(one: Clue, other: Clue) -> bool:
    """Equal evidence at one moment: which came first cannot be told."""
    moments = (one.moment, other.moment)
    return one.signature.severity is other.signature.severity and (
        moments[0] == moments[1] or None in moments
    )


def _also_advised(other: Clue, case: Case) -> list[Recommendation]:
    """A second machine gets its own action only for hardware that speaks for itself."""
    if not _speaks_for_itself(other, case):
        return []
    action = _action(other, case)
    return advice(action, target_of(other), _reason(other, action), None)[:1]


def _class(cause: Clue, case: Case) -> VerdictClass:
    """A port event that only the library reports, beside peers' failures, is still a fan-out."""
    if _only_echo(cause, case) and any(
        clue.place.machine != cause.place.machine for clue in case.of(SignatureClass.DISTRIBUTED)
    ):
        return VerdictClass.DISTRIBUTED
    return VerdictClass.CRITICAL


def _only_echo(cause: Clue, case: Case) -> bool:
    """Does the job's log alone speak of the network part, with no line of the machine's own?

    A device that reports itself dead is no such echo.
    """
    return all(
        clue.signature.stream is Stream.JOB
        and clue.signature.component in _NETWORK
        and clue.signature.severity is not Severity.CRITICAL
        for clue in case.of(SignatureClass.CRITICAL)
        if clue.place.machine == cause.place.machine
    )


def _reason(cause: Clue, action: Action) -> str:
    repeated = f" ({cause.count} times)" if cause.count > 1 else ""
    return f"{cause.signature.title}{repeated}: {cause.signature.explanation or cause.text}"


def _todo(action: Action, target: Target) -> str:
    where = target.host or shown(target)
    if action is Action.ISOLATE_HOST and target.host is None and target.rank is None:
        return "find out which host that is, isolate it and restart the job"
    return {
        Action.ISOLATE_HOST: f"isolate {where} and restart the job",
        Action.RESET_GPU: f"drain {where}, reset the GPU and restart the job",
        Action.RESTART_JOB: "restart the job and watch this part",
        Action.CHECK_LINK: "check both ends of the link and restart the job",
        Action.FIX_CONFIG: f"fix the configuration of {where}",
    }.get(action, f"keep watching {where}")


def _trace(groups: Sequence[Sequence[Clue]], cause: Clue, target: Target, action: Action) -> str:
    names = ", ".join(str(group[0].place.machine or "unknown place") for group in groups[:5])
    return (
        f"critical findings on {len(groups)} machine{'s' * (len(groups) != 1)}, in order: {names}; "
        f"{cause.code} speaks for {shown(target)} → {action.value}"
    )
