"""Snoozing: off the desk until a time, or until something new arrives."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from incidents.exceptions import InvalidInput, TransitionRefused
from incidents.models import Incident
from incidents.roles import Actor
from incidents.services.changing import changed, for_change
from incidents.services.events import record


@transaction.atomic
def snooze(
    *,
    actor: Actor,
    incident: Incident,
    until: datetime | None = None,
    expected_version: int | None = None,
) -> Incident:
    """Takes an open incident off the desk until a time; without one, until something new arrives.

    What makes it graver wakes it in any case. Raises `InvalidInput` for a time that is past.
    """
    incident = for_change(actor, incident, expected_version)
    if not incident.is_open:
        raise TransitionRefused(f"{incident.reference} is resolved: there is nothing to snooze.")
    if until is not None and until <= timezone.now():
        raise InvalidInput("Choose a time that is still to come.", field="until")
    incident.snoozed_until, incident.snoozed_for_news = until, until is None
    told = "something new arrives" if until is None else f"{until:%Y-%m-%d %H:%M:%S} UTC"
    return changed(actor, incident, "incident.snoozed", f"Snoozed until {told}")


@transaction.atomic
def wake(*, actor: Actor, incident: Incident, expected_version: int | None = None) -> Incident:
    """Brings a snoozed incident back to the desk; nothing happens where it is there."""
    incident = for_change(actor, incident, expected_version)
    if not incident.is_snoozed:
        return incident
    incident.snoozed_until, incident.snoozed_for_news = None, False
    return changed(actor, incident, "incident.woken", "Back on the desk")


def note_news(incident: Incident, news: str, *, graver: bool = False) -> None:
    """Wakes an incident that was snoozed until something new, or any where this is `graver`.

    Part of whatever brought the news. People changed nothing, so its version stays.
    """
    asleep = Incident.objects.filter(pk=incident.pk)
    asleep = asleep.filter(snoozed_until__gt=timezone.now()) | asleep.filter(snoozed_for_news=True)
    if not graver:
        asleep = asleep.filter(snoozed_for_news=True)
    if asleep.update(snoozed_until=None, snoozed_for_news=False, updated_at=timezone.now()):
        incident.snoozed_until, incident.snoozed_for_news = None, False
        text = f"Back on the desk: {news}"
        record(actor=Actor.system(), verb="incident.woken", text=text, incident=incident)
