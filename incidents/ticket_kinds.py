"""What each kind of ticket system is told and asked: its options, and what they are by default."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incidents.choices import ConnectorKind, IncidentStatus
from incidents.exceptions import InvalidInput

#: What is told to a ticket unless its connector says otherwise.
TOLD = (
    "incident.acknowledged",
    "incident.mitigated",
    "incident.resolved",
    "incident.reopened",
    "incident.noted",
    "diagnosis.done",
    "recommendation.*",
)
#: Where these events leave the incident.
STATUS_AFTER: Mapping[str, IncidentStatus] = {
    "incident.acknowledged": IncidentStatus.ACKNOWLEDGED,
    "incident.mitigated": IncidentStatus.MITIGATED,
    "incident.resolved": IncidentStatus.RESOLVED,
    "incident.reopened": IncidentStatus.TRIGGERED,
}
_STATUS_OPTIONS = ("statuses", "incoming")


@dataclass(frozen=True, slots=True)
class TicketKind:
    """A kind's options. `statuses` maps ours to theirs, `incoming` theirs to ours."""

    needed: frozenset[str]
    defaults: Mapping[str, Any]


KINDS: Mapping[str, TicketKind] = {
    ConnectorKind.JIRA: TicketKind(
        frozenset({"project"}),
        {
            "project": "",
            "issue_type": "Task",
            "api": "3",
            "fields": {},
            "statuses": {
                "triggered": "To Do",
                "acknowledged": "In Progress",
                "mitigated": "In Progress",
                "resolved": "Done",
            },
            "incoming": {"In Progress": "acknowledged", "Done": "resolved"},
        },
    ),
    ConnectorKind.SERVICENOW: TicketKind(
        frozenset(),
        {
            "table": "incident",
            "fields": {},
            "close_code": "Solution provided",
            "statuses": {
                "triggered": "1",
                "acknowledged": "2",
                "mitigated": "2",
                "resolved": "6",
            },
            "incoming": {"2": "acknowledged", "6": "resolved", "7": "resolved"},
        },
    ),
    ConnectorKind.HTTP: TicketKind(
        frozenset(),
        {
            "find": "?external_id={lookup}",
            "one": "/{key}",
            "notes": "/{key}/notes",
            "fields": {},
            "key": "key || id",
            "link": "url",
            "status": "status",
            "statuses": {status.value: status.value for status in IncidentStatus},
            "incoming": {status.value: status.value for status in IncidentStatus},
        },
    ),
}


def options_of(kind: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options in use: what is given, and the defaults of the kind for the rest."""
    return {**KINDS[kind].defaults, **given}


def checked_options(kind: str, given: object) -> dict[str, Any]:
    """The options as they may be stored. Raises `InvalidInput`, which says what is known."""
    if kind not in KINDS:
        raise InvalidInput(f"A ticket system is one of: {', '.join(KINDS)}.", field="kind")
    if not isinstance(given, dict):
        raise InvalidInput("Options are an object: {…}.", field="options")
    known = KINDS[kind]
    for name, value in given.items():
        if name not in known.defaults:
            told = ", ".join(known.defaults)
            raise InvalidInput(f"There is no option {name!r}. Known: {told}.", field="options")
        _check_form(name, value, known.defaults[name])
    if missing := [name for name in sorted(known.needed) if not given.get(name)]:
        raise InvalidInput(f"The option {missing[0]!r} is needed.", field="options")
    return dict(given)


def _check_form(name: str, value: object, default: object) -> None:
    if not isinstance(value, type(default)):
        form = "an object" if isinstance(default, dict) else "a text"
        raise InvalidInput(f"The option {name!r} is {form}.", field="options")
    if name not in _STATUS_OPTIONS or not isinstance(value, dict):
        return
    ours = value.keys() if name == "statuses" else value.values()
    if unknown := [one for one in ours if one not in IncidentStatus.values]:
        told = ", ".join(IncidentStatus.values)
        raise InvalidInput(f"{unknown[0]!r} in {name!r} is none of: {told}.", field="options")
    if not all(isinstance(one, str) for one in (*value.keys(), *value.values())):
        raise InvalidInput(f"Statuses in {name!r} are texts.", field="options")
