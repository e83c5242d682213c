"""Clues whose fault came back too often on one part: judged by the class that the rule names."""

from collections.abc import Sequence
from dataclasses import replace

from diagnosis.core.words import Action, SignatureClass
from diagnosis.taxonomy.escalation import Escalated, PastFinding, escalations
from diagnosis.taxonomy.history import History
from diagnosis.taxonomy.signature import Severity, Signature
from diagnosis.triage.clues import Clue
from diagnosis.triage.sightings import epoch, part_of

_ACTS = {Action.ISOLATE_HOST, Action.RESET_GPU, Action.CHECK_LINK}


def with_escalations(clues: Sequence[Clue], history: History) -> tuple[list[Clue], tuple[str, ...]]:
    """The clues, the repeated ones with what their rule makes of them; and why, for the trace."""
    judged: list[Clue] = []
    told: dict[str, None] = {}
    for clue in clues:
        found = _escalated(clue, history)
        if found is None:
            judged.append(clue)
            continue
        signature = _raised(clue.signature, found)
        judged.append(replace(clue, signature=signature))
        told[f"escalated: {found.text} → {found.to.value}, {signature.action.value}"] = None
    return judged, tuple(told)


def _escalated(clue: Clue, history: History) -> Escalated | None:
    if clue.signature.escalates is None:
        return None
    finding = as_finding(clue, history)
    if finding is None:
        return None
    fired = escalations([finding], history.past, {clue.code: clue.signature})
    return fired[0] if fired else None


def as_finding(clue: Clue, history: History) -> PastFinding | None:
    """The clue as one more finding on its part; None where no time is known for it.

    A clue without a full time of its own happened when its incident began.
    """
    time = epoch(clue.moment)
    time = history.at if time is None else time
    if time is None:
        return None
    host, (_, part) = clue.place.host, part_of(clue)
    seat = history.seats.at(host, part)
    return PastFinding(
        code=clue.code,
        time=time,
        host=host,
        part=seat.identity if seat else part or None,
        job=history.job or clue.job,
        owner=history.owner,
        identified=seat is not None,
    )


def _raised(signature: Signature, found: Escalated) -> Signature:
    """The signature in the rule's class; one that turns critical takes its host out of service."""
    critical = found.to is SignatureClass.CRITICAL
    acts = signature.action if signature.action in _ACTS else Action.ISOLATE_HOST
    if critical and signature.cls is SignatureClass.CRITICAL:
        acts = Action.ISOLATE_HOST
    severe = signature.severity.weight >= Severity.HIGH.weight
    return replace(
        signature,
        cls=found.to,
        action=acts if critical else signature.action,
        severity=signature.severity if severe or not critical else Severity.HIGH,
        follow_on=False,
        explanation=f"{found.text}. {found.rule.note or signature.explanation}".strip(),
    )
