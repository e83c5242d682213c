"""What a ticket system says of its tickets: statuses move incidents on, notes become notes."""

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from incidents import selectors
from incidents.choices import IncidentStatus, Resolution, TicketState
from incidents.exceptions import RecordsError
from incidents.models import Incident, TicketConnector, TicketLink
from incidents.roles import Actor
from incidents.services import incidents
from incidents.services.events import record
from incidents.services.ticket_outbox import label_of
from incidents.services.transitions import Step, allowed_steps
from incidents.ticket_kinds import options_of

#: How notes begin that Aegis wrote there itself.
_OURS = "[Aegis evt_"
_NOTE_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class Told:
    """A note from the ticket system; cursors of one ticket ascend."""

    cursor: str
    author: str
    text: str


@transaction.atomic
def take_news(ticket: TicketLink, *, status: str, notes: list[Told]) -> None:
    """Notes what changed there since the last time; what is known already changes nothing."""
    link = TicketLink.objects.select_for_update(of=("self",)).filter(pk=ticket.pk).first()
    if link is None or link.connector is None or link.state != TicketState.LIVE:
        return
    actor = Actor.system(label_of(link.connector))
    for note in sorted(notes, key=lambda one: one.cursor):
        if note.cursor > link.last_note:
            link.last_note = note.cursor[:100]
            _take_note(actor, link, note)
    before, link.status, link.status_at = link.status, status[:100], timezone.now()
    link.save(update_fields=["last_note", "status", "status_at"])
    if before and status and status != before:
        _take_status(actor, link, link.connector, before)


def _take_note(actor: Actor, link: TicketLink, note: Told) -> None:
    if _OURS in note.text or not note.text:
        return
    text = f"{note.author or 'Someone'} in {link}: {note.text}"[:_NOTE_CHARACTERS]
    incidents.add_note(actor=actor, incident=link.incident, text=text)


def _take_status(actor: Actor, link: TicketLink, connector: TicketConnector, before: str) -> None:
    incident = selectors.standing_record(link.incident)
    record(
        actor=actor,
        verb="ticket.moved",
        text=f"{link}: {before} → {link.status}",
        incident=incident,
        data={"ticket": link.pk, "before": before, "status": link.status},
    )
    incoming = options_of(connector.kind, connector.options)["incoming"]
    wanted = incoming.get(link.status)
    if wanted and wanted != incident.status:
        _step(actor, incident, IncidentStatus(wanted), f"{link} is {link.status}")


def _step(actor: Actor, incident: Incident, wanted: IncidentStatus, note: str) -> None:
    """Moves the incident on where its own rules allow that; the ticket cannot force it."""
    step = {
        IncidentStatus.ACKNOWLEDGED: Step.ACKNOWLEDGE,
        IncidentStatus.MITIGATED: Step.MITIGATE,
        IncidentStatus.RESOLVED: Step.RESOLVE,
        IncidentStatus.TRIGGERED: Step.REOPEN,
    }[wanted]
    if step not in allowed_steps(incident.status):
        return
    try:
        with transaction.atomic():
            _take_step(actor, incident, step, note)
    except RecordsError:
        return  # the event says what the ticket said; people decide


def _take_step(actor: Actor, incident: Incident, step: Step, note: str) -> None:
    if step == Step.ACKNOWLEDGE:
        incidents.acknowledge(actor=actor, incident=incident)
    elif step == Step.MITIGATE:
        incidents.mitigate(actor=actor, incident=incident, note=note)
    elif step == Step.RESOLVE:
        incidents.resolve(actor=actor, incident=incident, resolution=Resolution.OTHER, note=note)
    else:
        incidents.reopen(actor=actor, incident=incident, note=note)
