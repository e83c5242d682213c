"""Setting up ticket systems: made, changed, tried, removed. Their secrets are never shown again."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from incidents import ticket_text
from incidents.choices import SubscriptionState, TicketState
from incidents.exceptions import InvalidInput, StaleVersion
from incidents.models import TicketConnector, TicketLink, WebhookDelivery
from incidents.roles import Actor, Capability
from incidents.sealing import seal
from incidents.services import outbox
from incidents.services.events import record
from incidents.services.webhooks import clean_patterns
from incidents.ticket_kinds import TOLD, checked_options

#: A connector's row and the subscription that it is.
_BOTH_TABLES = ("self", "webhooksubscription_ptr")
#: What may be said of a connector; the kind only when it is made.
FIELDS = (
    "name",
    "url",
    "account",
    "secret",
    "cluster",
    "state",
    "events",
    "options",
    "title_template",
    "text_template",
)


@transaction.atomic
def add_connector(*, actor: Actor, kind: str, fields: Mapping[str, Any]) -> TicketConnector:
    """A new ticket system. Raises `InvalidInput` by field."""
    actor.require(Capability.OPERATE)
    connector = TicketConnector(kind=kind, created_by=actor.label, events=list(TOLD))
    given = {"options": {}, **fields}
    if not given.get("secret"):
        raise InvalidInput("Give the account's API token or password.", field="secret")
    _set(actor, connector, given)
    _record(actor, connector, "connector.added", f"Ticket system {connector} added")
    return connector


@transaction.atomic
def change_connector(
    *,
    actor: Actor,
    connector: TicketConnector,
    fields: Mapping[str, Any],
    expected_version: int | None = None,
) -> TicketConnector:
    """Changes a ticket system; an empty secret leaves the one that is there.

    What waits is tried again at once: a change is how people mend what went wrong.
    """
    actor.require(Capability.OPERATE)
    current = TicketConnector.objects.select_for_update(of=_BOTH_TABLES).get(pk=connector.pk)
    if expected_version is not None and current.version != expected_version:
        raise StaleVersion(expected=expected_version, current=current.version)
    given = {name: value for name, value in fields.items() if name != "secret" or value}
    current.failing_since, current.failure_count, current.retry_at = None, 0, None
    current.version += 1
    _set(actor, current, given)
    text = f"Ticket system {current} changed: {', '.join(sorted(given)) or 'nothing'}"
    _record(actor, current, "connector.changed", text, fields=sorted(given))
    outbox.call_for([current.pk])
    return current


@transaction.atomic
def remove_connector(*, actor: Actor, connector: TicketConnector) -> None:
    """Removes a ticket system; its tickets stay as links, and what waited is given up."""
    actor.require(Capability.OPERATE)
    links = TicketLink.objects.filter(connector=connector)
    links.filter(state=TicketState.LIVE).update(state=TicketState.LINKED)
    links.filter(state=TicketState.WANTED).update(
        state=TicketState.REFUSED, error="The ticket system was removed."
    )
    _record(actor, connector, "connector.removed", f"Ticket system {connector} removed")
    connector.delete()


@transaction.atomic
def test_connector(*, actor: Actor, connector: TicketConnector) -> WebhookDelivery:
    """Asks the system once whether it would take tickets; the answer is in the delivery."""
    actor.require(Capability.OPERATE)
    _record(actor, connector, "connector.tested", f"Ticket system {connector} tried")
    return outbox.enqueue_test(connector, verb=outbox.TEST_OF_TICKETS)


def _set(actor: Actor, connector: TicketConnector, given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in FIELDS:
            raise InvalidInput("There is no such field.", field=name)
    for name, value in given.items():
        setattr(connector, name, _cleaned(connector.kind, name, value))
    actor.reach.require_cluster(connector.cluster.name if connector.cluster else None)
    try:
        with transaction.atomic():
            connector.save()
    except IntegrityError as error:
        raise InvalidInput("Another webhook or ticket system has it.", field="name") from error


def _cleaned(kind: str, name: str, value: Any) -> Any:
    if name == "secret":
        return seal(str(value))
    if name == "options":
        return checked_options(kind, value)
    if name == "events":
        return clean_patterns(value)
    if name.endswith("_template"):
        return ticket_text.check(str(value).strip(), field=name)
    if name == "url":
        return str(value).strip().rstrip("/")
    if name == "name" and not str(value).strip():
        raise InvalidInput("A ticket system needs a name.", field="name")
    if name == "state" and value == SubscriptionState.DISABLED:
        raise InvalidInput("A ticket system is made active or paused.", field="state")
    return value.strip() if isinstance(value, str) else value


def _record(actor: Actor, connector: TicketConnector, verb: str, text: str, **data: object) -> None:
    record(actor=actor, verb=verb, text=text, data={"connector": connector.pk, **data})
