"""How a person's change of an incident begins and ends: locked, by version, with one event."""

from collections.abc import Mapping

from incidents.exceptions import MergedAway, StaleVersion
from incidents.models import Incident
from incidents.roles import Actor, Capability
from incidents.services.events import record


def for_change(actor: Actor, incident: Incident, expected_version: int | None) -> Incident:
    """The incident as it stands now, locked. Raises `NotAllowed`, `StaleVersion`, `MergedAway`."""
    actor.require(Capability.RESPOND)
    current = Incident.objects.select_for_update().get(pk=incident.pk)
    if expected_version is not None and current.version != expected_version:
        raise StaleVersion(expected=expected_version, current=current.version)
    if current.merged_into_id is not None:
        raise MergedAway(
            f"{current.reference} is part of INC-{current.merged_into_id}; go on there, "
            "or take it out again."
        )
    return current


def changed(
    actor: Actor,
    incident: Incident,
    verb: str,
    text: str,
    fields: Mapping[str, object] | None = None,
) -> Incident:
    """Saves the change as the incident's next version, with its event.

    The event tells how it stood before and after, for whoever looked at an earlier version.
    """
    before = standing_of(Incident.objects.select_related("assignee").get(pk=incident.pk))
    incident.version += 1
    incident.save()
    data = {
        "status": incident.status,
        "version": incident.version,
        "before": before,
        "after": standing_of(incident),
        **(fields or {}),
    }
    record(actor=actor, verb=verb, text=text, incident=incident, data=data)
    return incident


def standing_of(incident: Incident) -> Mapping[str, object]:
    """How an incident stands, in the words of people."""
    snoozed = "until news" if incident.snoozed_for_news else incident.snoozed_until
    return {
        "status": incident.status,
        "resolution": incident.resolution,
        "assignee": incident.assignee.get_username() if incident.assignee else "",
        "severity": incident.severity,
        "kind": incident.kind,
        "title": incident.title,
        "snoozed": str(snoozed or ""),
    }
