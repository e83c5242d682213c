"""Rungs 2 and 3: the user's code, storage and configuration, when they come before the fan-out."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from diagnosis.core.diagnosis import Recommendation, Suspect
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, SignatureClass, TargetKind, VerdictClass
from diagnosis.taxonomy.signature import Severity
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue, earliest, is_before
from diagnosis.triage.hang_ups import who_hung_up, without_hang_ups
from diagnosis.triage.order import Order
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.outlived import early_ones, is_over_before, outlived
from diagnosis.triage.suspects import shown, soft_target, suspect
from diagnosis.triage.timeline import day_text

#: From this priority down a signature is a fallback: an exception of some class, any RuntimeError.
FALLBACK_PRIORITY = 30

_SOFT = (SignatureClass.USER, SignatureClass.CONFIG, SignatureClass.STORAGE)
_VERDICTS = {
    SignatureClass.USER: VerdictClass.USER,
    SignatureClass.CONFIG: VerdictClass.CONFIG,
    SignatureClass.STORAGE: VerdictClass.STORAGE,
}
_KINDS = {
    SignatureClass.USER: TargetKind.USER_CODE,
    SignatureClass.CONFIG: TargetKind.CONFIG,
    SignatureClass.STORAGE: TargetKind.STORAGE,
}
_FIXES = {
    SignatureClass.USER: (Action.FIX_CODE, "tell the owner of the code"),
    SignatureClass.CONFIG: (Action.FIX_CONFIG, "fix the configuration"),
    SignatureClass.STORAGE: (Action.FIX_STORAGE, "look at the storage"),
}
#: Calls that differ: who is the odd one, only those say who compared; each compares two ranks.
_MISMATCHES = {"c10d-collective-mismatch", "gloo-size-mismatch", "horovod-mismatch"}
#: The rank that reports these received what another one sent: it is the neighbour.
_RECEIVERS = {"gloo-size-mismatch", "nccl-message-truncated", "nccl-ib-size-mismatch"}
_MOVED = re.compile(r"\b(?:os\.(?:rename|replace|remove|unlink|rmdir)|shutil\.|rmtree)|' -> '")
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python\d|<frozen|/torchrun$")


def judge_software(case: Case, *, consequences: bool = False, late: bool = False) -> Outcome | None:
    """The outcome when user, configuration or storage clues stand before the first fan-out.

    `late`: also those that come after it; `consequences`: also summaries (the last resort).
    """
    errors = case.of(SignatureClass.DISTRIBUTED)
    hung_up = who_hung_up(case)
    asking = [clue for clue in case.of(*_SOFT, follow_on=consequences) if asks_for_action(clue)]
    early = early_ones(case, asking, errors)
    everyone = Order(errors)

    def order_against(clue: Clue) -> Order:
        left = _fan_out(case, clue, errors, early, hung_up)
        return everyone if left is errors else Order(left)

    standing = [clue for clue in asking if late or not _is_after(clue, order_against(clue))]
    if not standing:
        return None
    cause = _accused_by_most(_cause_of(case, standing), standing)
    fan_out = _fan_out(case, cause, errors, early, hung_up)
    before = outlived(case, cause, early)
    cls = _class(cause, case)
    score = _score(cause, standing, fan_out, late=late or consequences)
    score = min(score, _most_after(case, cause, before))
    action, words = _FIXES[cls]
    target = _named(soft_target(_KINDS[cls], cause), cause, cls)
    if cause.code in _RECEIVERS:
        target, score = replace(target, rank=None, host=None), min(score, 0.6)
    others = [clue for clue in standing if clue.code == cause.code and clue is not cause]
    suspects = [suspect(target, score, [cause, *others], against=[])]
    suspects += _further(standing, cause, score)
    at = day_text(cause.moment)
    where = shown(target)
    summary = (
        f"{cause.signature.title}{f' on {where}' if where else ''}{f' at {at}' if at else ''}"
        f"{_before(fan_out)}; {words}, isolate nothing."
    )
    return Outcome(
        cls=_VERDICTS[cls],
        kind=IncidentKind.CRASH,
        summary=summary,
        confidence=score,
        suspects=tuple(suspects),
        recommendations=(Recommendation(action, target, _reason(cause)),),
        trace=(_trace(cause, standing, fan_out), *_outlived(before)),
        decisive=score >= 0.8,
    )


def asks_for_action(clue: Clue) -> bool:
    """Storage that fails is an event even where the signature only watches one client of it."""
    watched = clue.signature.action is Action.WATCH
    return not watched or clue.signature.cls is SignatureClass.STORAGE


def _fan_out(
    case: Case,
    clue: Clue,
    errors: Sequence[Clue],
    early: Sequence[Clue],
    hung_up: str | None,
) -> Sequence[Clue]:
    """The distributed errors whose order against the clue tells something.

    Not those that the job outlived, nor those about connections that the clue's process closed.
    """
    before = {id(error) for error in outlived(case, clue, early)}
    left = [error for error in errors if id(error) not in before] if before else errors
    return without_hang_ups(left, clue, hung_up, case)


def _most_after(case: Case, cause: Clue, before: Sequence[Clue]) -> float:
    """How sure a cause may be after errors that the job outlived, and that may still go on."""
    if not before:
        return 1.0
    return 0.8 if all(is_over_before(case, error, cause) for error in before) else 0.65


def _outlived(before: Sequence[Clue]) -> list[str]:
    if not before:
        return []
    lines = sum(clue.count for clue in before)
    codes = ", ".join(sorted({clue.code for clue in before}))
    return [f"{lines} distributed errors so long before that the job outlived them ({codes})"]


def _is_after(clue: Clue, fan_out: Order) -> bool:
    """After the first distributed line, as far as anything tells."""
    return fan_out.any_before(clue) and not fan_out.any_unsure(clue)


def _cause_of(case: Case, standing: Sequence[Clue]) -> Clue:
    """The first exact clue; among fallbacks the first; at one line the higher priority.

    An error of the code that the job outlived is not the first of those that ended it.
    """
    exact = [clue for clue in standing if not is_fallback(clue)]
    caught = [clue for clue in exact if clue.signature.cls is SignatureClass.USER]
    caught = early_ones(case, exact, caught)
    gone = {id(error) for clue in exact for error in outlived(case, clue, caught)}
    exact = [clue for clue in exact if id(clue) not in gone]
    return earliest(exact or standing)[0]


def _accused_by_most(cause: Clue, standing: Sequence[Clue]) -> Clue:
    """Of calls that differ, the report on the rank that most reports name; none where two tie.

    The odd one compares itself too and names a healthy rank.
    """
    if cause.code not in _MISMATCHES:
        return cause
    named = Counter[int | None]()
    for clue in standing:
        if clue.code == cause.code:
            named[clue.place.rank] += clue.count
    (rank, most), *others = named.most_common()
    if others and others[0][1] == most:
        return cause.at(replace(cause.place, rank=None))
    return next(clue for clue in standing if (clue.code, clue.place.rank) == (cause.code, rank))


def is_fallback(clue: Clue) -> bool:
    signature = clue.signature
    return signature.priority <= FALLBACK_PRIORITY or signature.severity is Severity.LOW


def _class(cause: Clue, case: Case) -> SignatureClass:
    """The signature's class; a file that one rank misses while others go on is storage's fault.

    All ranks run the same code with the same paths: what only some of them cannot find has not
    arrived everywhere. Rank 0 often does things of its own, so it does not count; a file that the
    program itself moves or deletes is its own race.
    """
    if cause.code != "py-file-missing" or _MOVED.search(cause.context):
        return cause.signature.cls
    missing = {clue.place.rank for clue in case.clues if clue.code == cause.code}
    others = {clue.place.rank for clue in case.clues} | case.ranks
    if not missing & {None, 0} and others - missing - {None}:
        return SignatureClass.STORAGE
    return cause.signature.cls


def _score(cause: Clue, standing: Sequence[Clue], fan_out: Sequence[Clue], *, late: bool) -> float:
    score = 0.65 if is_fallback(cause) else 0.9
    if cause.code in _MISMATCHES and (cause.place.rank is None or cause.count == 1):
        score = 0.6
    if cause.signature.follow_on:
        score = min(score, 0.6)
    if late:
        score = min(score, 0.5)
    if any(is_before(cause, other) is None for other in fan_out):
        score -= 0.05
    if len({clue.signature.cls for clue in standing if not is_fallback(clue)}) > 1:
        score -= 0.1
    return score


def _named(target: Target, cause: Clue, cls: SignatureClass) -> Target:
    """User code is named by its own innermost frame where a traceback shows one."""
    if cls is not SignatureClass.USER:
        return target
    frames = [
        f"{path.rsplit('/', 1)[-1]}:{line}"
        for path, line in _FRAME.findall(cause.context)
        if not _LIBRARY.search(path)
    ]
    if not frames:
        return target
    return Target(target.kind, name=frames[-1], host=target.host, gpu=target.gpu, rank=target.rank)


def _further(standing: Sequence[Clue], cause: Clue, score: float) -> list[Suspect]:
    """Other classes of software fault that stand too, one suspect each."""
    seen = {cause.signature.cls}
    found: list[Suspect] = []
    for clue in earliest(standing):
        if clue.signature.cls not in seen and not is_fallback(clue):
            seen.add(clue.signature.cls)
            target = soft_target(_KINDS[clue.signature.cls], clue)
            found.append(suspect(target, min(0.4, (1 - score) * 2), [clue]))
    return found


def _before(fan_out: Sequence[Clue]) -> str:
    if not fan_out:
        return ""
    return "; the errors of the other ranks follow from it"


def _reason(cause: Clue) -> str:
    return f"{cause.signature.title}: {cause.signature.explanation or cause.text}"


def _trace(cause: Clue, standing: Sequence[Clue], fan_out: Sequence[Clue]) -> str:
    order = "no distributed error stands against it"
    if fan_out:
        known = all(is_before(cause, other) is True for other in fan_out)
        order = (
            f"before the first of {len(fan_out)} distributed findings"
            if known
            else f"{len(fan_out)} distributed findings, whose order against it nothing tells"
        )
    return f"{len(standing)} user, configuration or storage findings; first {cause.code}, {order}"
