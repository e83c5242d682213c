"""Links from incidents to tickets in other systems, made by hand."""

from urllib.parse import urlsplit

from django.db import transaction

from incidents import selectors
from incidents.exceptions import InvalidInput
from incidents.models import Incident, TicketLink
from incidents.roles import Actor, Capability
from incidents.services.events import record
from incidents.services.indexing import add_words


@transaction.atomic
def link_ticket(
    *, actor: Actor, incident: Incident, key: str, system: str = "", url: str = ""
) -> tuple[TicketLink, bool]:
    """The link to this ticket, and whether it is new. Raises `InvalidInput` by field."""
    actor.require(Capability.RESPOND)
    key, system, url = key.strip(), system.strip(), url.strip()
    if not key or len(key) > 200:
        raise InvalidInput("Give the ticket's key, such as OPS-8812.", field="key")
    if url and not _leads_somewhere(url):
        raise InvalidInput("A link begins with https:// or http://.", field="url")
    incident = selectors.standing_record(incident)
    made, new = TicketLink.objects.get_or_create(
        incident=incident,
        system=system[:50],
        key=key,
        defaults={"url": url[:1000], "linked_by": actor.label},
    )
    if new:
        add_words(incident, [key, system])
        text = f"Linked to {made}{f' ({url})' if url else ''}"
        data = {"ticket": made.pk, "system": system, "key": key, "url": url}
        record(actor=actor, verb="ticket.linked", text=text, incident=incident, data=data)
    return made, new


@transaction.atomic
def unlink_ticket(*, actor: Actor, ticket: TicketLink) -> None:
    """Takes a link away; the timeline keeps that it was there."""
    actor.require(Capability.RESPOND)
    data = {"system": ticket.system, "key": ticket.key, "url": ticket.url}
    record(
        actor=actor,
        verb="ticket.unlinked",
        text=f"No longer linked to {ticket}",
        incident=ticket.incident,
        data=data,
    )
    ticket.delete()


def _leads_somewhere(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc)
