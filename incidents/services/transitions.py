"""The one table of how an incident's status may change."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from incidents.choices import IncidentStatus
from incidents.exceptions import TransitionRefused


class Step(StrEnum):
    """What someone does to an incident's status."""

    ACKNOWLEDGE = "acknowledge"
    MITIGATE = "mitigate"
    RESOLVE = "resolve"
    REOPEN = "reopen"


@dataclass(frozen=True, slots=True)
class Transition:
    """From which statuses a step is allowed, and where it leads."""

    allowed_from: frozenset[IncidentStatus]
    leads_to: IncidentStatus


_TRIGGERED, _ACKNOWLEDGED = IncidentStatus.TRIGGERED, IncidentStatus.ACKNOWLEDGED
_MITIGATED, _RESOLVED = IncidentStatus.MITIGATED, IncidentStatus.RESOLVED

TRANSITIONS: Mapping[Step, Transition] = {
    Step.ACKNOWLEDGE: Transition(frozenset({_TRIGGERED}), _ACKNOWLEDGED),
    Step.MITIGATE: Transition(frozenset({_TRIGGERED, _ACKNOWLEDGED}), _MITIGATED),
    Step.RESOLVE: Transition(frozenset({_TRIGGERED, _ACKNOWLEDGED, _MITIGATED}), _RESOLVED),
    Step.REOPEN: Transition(frozenset({_MITIGATED, _RESOLVED}), _TRIGGERED),
}


def allowed_steps(status: str) -> list[Step]:
    """The steps that can be taken from a status, for menus and for the API."""
    return [step for step, rule in TRANSITIONS.items() if status in rule.allowed_from]


def status_after(step: Step, status: str) -> IncidentStatus:
    """Where a step leads. Raises `TransitionRefused`, saying what could be done instead."""
    rule = TRANSITIONS[step]
    if status in rule.allowed_from:
        return rule.leads_to
    possible = ", ".join(allowed_steps(status))
    done = "reopened" if step is Step.REOPEN else rule.leads_to
    stands = f"{status} already" if status == done else f"{status}, so it cannot be {done}"
    raise TransitionRefused(f"It is {stands}. Possible: {possible}.")
