"""Opening a ticket about an incident: asked for here, done by the outbox, once whatever happens."""

import uuid

from django.db import transaction
from django.utils import timezone

from incidents import selectors, ticket_text
from incidents.choices import SubscriptionState, TicketState
from incidents.exceptions import InvalidInput
from incidents.models import Incident, TicketConnector, TicketLink
from incidents.roles import Actor, Capability
from incidents.services.events import record
from incidents.services.indexing import add_words
from incidents.services.outbox import enqueue_for_ticket
from incidents.services.ticket_outbox import label_of
from incidents.ticket_kinds import options_of

_WANTED = "ticket.wanted"


@transaction.atomic
def open_ticket(
    *, actor: Actor, incident: Incident, connector: TicketConnector
) -> tuple[TicketLink, bool]:
    """The ticket that is to be opened in this system, and whether this call asks for it.

    An incident has one ticket a system: asked again, it is the same one; one that was refused is
    tried once more. Its `lookup` is stored now and sent along, so that a ticket whose opening timed
    out is found and not opened twice.
    """
    actor.require(Capability.RESPOND)
    incident = Incident.objects.select_for_update(of=("self",)).get(
        pk=selectors.standing_record(incident).pk
    )
    if connector.state != SubscriptionState.ACTIVE:
        raise InvalidInput(f"{connector} is {connector.get_state_display()}.", field="connector")
    if connector.cluster_id not in {None, incident.cluster_id}:
        raise InvalidInput(f"{connector} is for another cluster.", field="connector")
    link = TicketLink.objects.filter(incident=incident, connector=connector).first()
    if link is not None and link.state != TicketState.REFUSED:
        return link, False
    if link is None:
        link = TicketLink(
            incident=incident,
            connector=connector,
            system=connector.name[:50],
            lookup=f"aegis-{incident.pk}-{uuid.uuid4().hex[:16]}",
            linked_by=actor.label,
        )
    link.state, link.error = TicketState.WANTED, ""
    link.save()
    _ask(actor, link, connector)
    return link, True


def _ask(actor: Actor, link: TicketLink, connector: TicketConnector) -> None:
    incident = link.incident
    values = selectors.ticket_values(incident)
    body = {
        "do": "open",
        "lookup": link.lookup,
        "title": ticket_text.fill(connector.title_template or ticket_text.TITLE, values)[:250],
        "text": ticket_text.fill(connector.text_template or ticket_text.TEXT, values),
        "severity": incident.severity,
        "url": values["url"],
    }
    text = f"A ticket is to be opened in {connector}"
    data = {"ticket": link.pk, "connector": connector.pk, "lookup": link.lookup}
    event = record(actor=actor, verb=_WANTED, text=text, incident=incident, data=data)
    enqueue_for_ticket(link, event, body)


@transaction.atomic
def opened(*, ticket: TicketLink, key: str, remote_id: str, url: str, status: str) -> None:
    """The ticket is there. Said twice, it is noted once."""
    link = TicketLink.objects.select_for_update(of=("self",)).filter(pk=ticket.pk).first()
    if link is None or link.connector is None or link.state == TicketState.LIVE:
        return
    link.key, link.remote_id, link.url = key[:200], remote_id[:200], url[:1000]
    link.status, link.status_at = status[:100], timezone.now()
    link.state, link.error = TicketState.LIVE, ""
    link.save()
    add_words(link.incident, [link.key, link.system])
    record(
        actor=Actor.system(label_of(link.connector)),
        verb="ticket.opened",
        text=f"Ticket {link} opened{f' ({link.url})' if link.url else ''}",
        incident=link.incident,
        data={"ticket": link.pk, "system": link.system, "key": link.key, "url": link.url},
    )


def not_opened(*, ticket: TicketLink, error: str, given_up: bool) -> None:
    """A try failed; the page says why. One that is given up can be asked for again."""
    waiting = TicketLink.objects.filter(pk=ticket.pk, state=TicketState.WANTED)
    if not given_up:
        waiting.update(error=error)
    elif waiting.update(state=TicketState.REFUSED, error=error):
        record(
            actor=Actor.system(),
            verb="ticket.refused",
            text=f"No ticket was opened in {ticket.system}: {error}",
            incident=ticket.incident,
            data={"ticket": ticket.pk},
        )


def moved(*, ticket: TicketLink, status: str) -> None:
    """The ticket has a status that Aegis gave it: no news when it is asked next."""
    TicketLink.objects.filter(pk=ticket.pk).update(status=status[:100], status_at=timezone.now())


def theirs(connector: TicketConnector, status: str) -> str:
    """The ticket system's word for a status of ours; empty where it has none."""
    return str(options_of(connector.kind, connector.options)["statuses"].get(status, ""))
