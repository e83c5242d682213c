"""How a person's change of an incident begins and ends: locked, by version, with one event."""

from collections.abc import Mapping

from incidents.exceptions import StaleVersion
from incidents.models import Incident
from incidents.roles import Actor, Capability
from incidents.services.events import record


def for_change(actor: Actor, incident: Incident, expected_version: int | None) -> Incident:
    """The incident as it stands now, locked. Raises `NotAllowed` or `StaleVersion`."""
    actor.require(Capability.RESPOND)
    current = Incident.objects.select_for_update().get(pk=incident.pk)
    if expected_version is not None and current.version != expected_version:
        raise StaleVersion(expected=expected_version, current=current.version)
    return current


def changed(
    actor: Actor,
    incident: Incident,
    verb: str,
    text: str,
    fields: Mapping[str, object] | None = None,
) -> Incident:
    """Saves the change as the incident's next version, with its event."""
    incident.version += 1
    incident.save()
    data = {"status": incident.status, "version": incident.version, **(fields or {})}
    record(actor=actor, verb=verb, text=text, incident=incident, data=data)
    return incident
