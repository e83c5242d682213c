"""One message to a ticket system: it opens a ticket, tells it something, or is a test.

A ticket is looked for before it is opened, every time: a try may have timed out after the system
had opened it, or the worker may have ended before it noted so.
"""

import json
from collections.abc import Mapping
from typing import Any

from jmespath.exceptions import JMESPathError

from incidents.choices import ConnectorKind, TicketState
from incidents.delivery.http import Answer, UnreachableError
from incidents.delivery.jira import Jira
from incidents.delivery.plain_tickets import PlainTickets
from incidents.delivery.servicenow import ServiceNow
from incidents.delivery.ticket_client import (
    RemoteTicket,
    TicketClient,
    TicketRefused,
    TicketSystem,
)
from incidents.models import TicketConnector, TicketLink, WebhookDelivery
from incidents.services import ticket_opening

_DONE = Answer(200, {}, "")


def system_of(connector: TicketConnector, client: TicketClient) -> TicketSystem:
    """The way of speaking that a connector's kind needs."""
    if connector.kind == ConnectorKind.JIRA:
        return Jira(client)
    if connector.kind == ConnectorKind.SERVICENOW:
        return ServiceNow(client)
    return PlainTickets(client)


def send(connector: TicketConnector, delivery: WebhookDelivery) -> tuple[str, Answer]:
    """Does what the message says; the address and the last answer, good or bad.

    Raises what `TicketClient.call` raises, but `TicketRefused`.
    """
    client = TicketClient(connector)
    try:
        _do(connector, system_of(connector, client), delivery)
    except TicketRefused as refused:
        return client.address, refused.answer
    except (LookupError, TypeError, AttributeError, JMESPathError) as error:
        raise UnreachableError(f"The answer is not understood: {error!r}") from error
    return client.address, client.last or _DONE


def remote_of(ticket: TicketLink) -> RemoteTicket:
    """A ticket in the words in which its system is asked for it."""
    return RemoteTicket(ticket.key, ticket.remote_id, ticket.url, ticket.status)


def _do(connector: TicketConnector, system: TicketSystem, delivery: WebhookDelivery) -> None:
    if delivery.is_test:
        return system.check()
    ticket = delivery.ticket
    if ticket is None:
        return None
    ticket.refresh_from_db()
    body: Mapping[str, Any] = json.loads(delivery.body)
    if body["do"] == "open":
        return _open(system, ticket, body)
    if ticket.state == TicketState.LIVE:
        _tell(connector, system, ticket, body)
    return None


def _open(system: TicketSystem, ticket: TicketLink, body: Mapping[str, Any]) -> None:
    if ticket.state == TicketState.LIVE:
        return
    lookup = str(body["lookup"])
    found = system.find(lookup) or system.open(
        lookup=lookup, title=body["title"], text=body["text"], severity=body["severity"]
    )
    if not found.key:
        raise LookupError("it names no ticket")
    ticket_opening.opened(
        ticket=ticket,
        key=found.key,
        remote_id=found.remote_id,
        url=found.url,
        status=found.status,
    )


def _tell(
    connector: TicketConnector, system: TicketSystem, ticket: TicketLink, body: Mapping[str, Any]
) -> None:
    status = ticket_opening.theirs(connector, body["status"]) if body["status"] else ""
    now = system.tell(remote_of(ticket), note=body["note"], mark=body["mark"], status=status)
    if now:
        ticket_opening.moved(ticket=ticket, status=now)
