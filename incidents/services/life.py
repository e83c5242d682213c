"""How an incident stands, kept as plain values and brought back."""

from collections.abc import Mapping
from typing import cast

from django.db.models import Field

from incidents.exceptions import StaleVersion, TransitionRefused
from incidents.models import Incident
from incidents.roles import Actor, Capability
from incidents.services.changing import changed
from incidents.services.opening import open_with_key

#: What people change of an incident, and taking back brings back.
_LIFE = (
    "status", "resolution", "resolution_note", "acknowledged_at", "mitigated_at", "resolved_at",
    "assignee_id", "snoozed_until", "snoozed_for_news", "merged_into_id", "severity", "kind",
    "onset_at",
)  # fmt: skip


def kept(incident: Incident) -> Mapping[str, object]:
    """The incident's life as JSON holds it."""
    values = {name: getattr(incident, name) for name in _LIFE}
    return {
        name: value.isoformat() if hasattr(value, "isoformat") else value
        for name, value in values.items()
    }


def _value(name: str, plain: object) -> object:
    """What JSON gave back, as the field holds it."""
    if name.endswith("_id"):
        return plain
    field = cast("Field[object, object]", Incident._meta.get_field(name))
    return field.to_python(plain)


def bring_back(
    *, actor: Actor, incident: Incident, before: Mapping[str, object], version: int, text: str
) -> Incident:
    """The incident as it was, as its next version, unless it changed since `version`.

    Raises `StaleVersion`, or `TransitionRefused` while another one with its dedup key is open.
    Part of taking back a step, which is one transaction.
    """
    actor.require(Capability.RESPOND)
    current = Incident.objects.select_for_update().get(pk=incident.pk)
    if current.version != version:
        raise StaleVersion(expected=version, current=current.version)
    was_open = current.is_open
    for name in _LIFE:
        if name in before:
            setattr(current, name, _value(name, before[name]))
    key = current.dedup_key
    others = open_with_key(key).exclude(pk=current.pk) if key and not was_open else None
    if current.is_open and others is not None and (other := others.first()):
        raise TransitionRefused(f"{other.reference} is open for the same thing; go on there.")
    return changed(actor, current, "incident.reverted", text)
