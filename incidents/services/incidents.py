"""What people do with incidents. Opening and correcting them is offered here as well."""

from django.db import transaction
from django.utils import timezone

from incidents import selectors
from incidents.choices import Resolution
from incidents.exceptions import InvalidInput, TransitionRefused
from incidents.models import Incident, User
from incidents.roles import Actor, Capability
from incidents.services.changing import changed, for_change
from incidents.services.correcting import correct
from incidents.services.events import record
from incidents.services.indexing import add_words
from incidents.services.opening import open_incident, open_with_key
from incidents.services.snoozing import note_news
from incidents.services.transitions import Step, status_after

__all__ = [
    "acknowledge",
    "add_note",
    "assign",
    "correct",
    "mitigate",
    "open_incident",
    "reopen",
    "resolve",
]


@transaction.atomic
def acknowledge(
    *, actor: Actor, incident: Incident, expected_version: int | None = None
) -> Incident:
    """Someone looks after it; an incident that nobody has becomes theirs."""
    incident = for_change(actor, incident, expected_version)
    incident.status = status_after(Step.ACKNOWLEDGE, incident.status)
    incident.acknowledged_at = timezone.now()
    if incident.assignee_id is None:
        incident.assignee_id = actor.user_id
    return changed(actor, incident, "incident.acknowledged", f"Acknowledged by {actor.label}")


@transaction.atomic
def assign(
    *,
    actor: Actor,
    incident: Incident,
    assignee: User | None,
    expected_version: int | None = None,
) -> Incident:
    """Gives an incident to someone, or to nobody. Raises `InvalidInput` for someone inactive."""
    incident = for_change(actor, incident, expected_version)
    if assignee is not None and not assignee.is_active:
        raise InvalidInput(f"{assignee} is not active.", field="assignee")
    incident.assignee = assignee
    whom = assignee.get_username() if assignee else "nobody"
    return changed(actor, incident, "incident.assigned", f"Assigned to {whom}")


@transaction.atomic
def mitigate(
    *, actor: Actor, incident: Incident, note: str = "", expected_version: int | None = None
) -> Incident:
    """The damage is stopped; the cause may not be mended yet."""
    incident = for_change(actor, incident, expected_version)
    incident.status = status_after(Step.MITIGATE, incident.status)
    incident.mitigated_at = timezone.now()
    return changed(actor, incident, "incident.mitigated", _with_note("Mitigated", note))


@transaction.atomic
def resolve(
    *,
    actor: Actor,
    incident: Incident,
    resolution: Resolution,
    note: str = "",
    expected_version: int | None = None,
) -> Incident:
    """Ends an incident with a resolution."""
    incident = for_change(actor, incident, expected_version)
    if resolution not in Resolution.values:
        raise InvalidInput("Say how it was resolved.", field="resolution")
    incident.status = status_after(Step.RESOLVE, incident.status)
    incident.resolved_at = timezone.now()
    incident.snoozed_until, incident.snoozed_for_news = None, False
    incident.resolution, incident.resolution_note = resolution, note.strip()
    add_words(incident, [note])
    text = _with_note(f"Resolved: {Resolution(resolution).label.lower()}", note)
    return changed(actor, incident, "incident.resolved", text)


@transaction.atomic
def reopen(
    *, actor: Actor, incident: Incident, note: str = "", expected_version: int | None = None
) -> Incident:
    """Takes an incident up again. Refused while another one with its dedup key is open."""
    incident = for_change(actor, incident, expected_version)
    incident.status = status_after(Step.REOPEN, incident.status)
    key = incident.dedup_key
    if key and (other := open_with_key(key).exclude(pk=incident.pk).first()):
        raise TransitionRefused(f"{other.reference} is open for the same thing; go on there.")
    incident.acknowledged_at = incident.mitigated_at = incident.resolved_at = None
    incident.resolution = incident.resolution_note = ""
    return changed(actor, incident, "incident.reopened", _with_note("Reopened", note))


@transaction.atomic
def add_note(*, actor: Actor, incident: Incident, text: str) -> None:
    """Adds a note (Markdown) to the timeline. Raises `InvalidInput` where it is empty.

    A note on what was merged goes to the incident that it is part of.
    """
    actor.require(Capability.RESPOND)
    if not text.strip():
        raise InvalidInput("The note is empty.", field="text")
    incident = selectors.standing_record(incident)
    record(actor=actor, verb="incident.noted", text=text.strip(), incident=incident)
    add_words(incident, [text])
    note_news(incident, f"a note by {actor.label}")


def _with_note(text: str, note: str) -> str:
    return f"{text}: {note.strip()}" if note.strip() else text
