"""The outbox: messages for webhooks, written in the transaction of the event that they tell."""

import uuid
from collections.abc import Iterable, Mapping
from functools import partial

import orjson
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from incidents.choices import SubscriptionState
from incidents.models import Event, TicketLink, WebhookDelivery, WebhookSubscription
from incidents.reach import EVERYWHERE, within
from incidents.services.ticket_outbox import tickets_told, told_of
from incidents.signals import delivery_wanted

#: Verbs whose message carries what was decided: the receiver acts on it at once.
_WITH_DECISION = "recommendation."
_DECIDED = ("decision", "recommendation", "action", "target", "commands")
#: What happens to the connections themselves.
_ABOUT_CONNECTIONS = ("webhook.", "connector.")
#: What the message of a test is called, sent to an endpoint and asked of a ticket system.
TEST, TEST_OF_TICKETS = "webhook.test", "connector.test"


def enqueue(event: Event) -> None:
    """One message for every endpoint and ticket that wants the event; sent after commit.

    However far its actor reaches: endpoints of every cluster hear of it. What happens to the
    connections themselves is told on the timeline alone.
    """
    if event.verb.startswith(_ABOUT_CONNECTIONS):
        return
    with within(EVERYWHERE):
        _enqueue_for_webhooks(event)
    for ticket in tickets_told(event):
        enqueue_for_ticket(ticket, event, told_of(event))


def enqueue_for_ticket(ticket: TicketLink, event: Event, body: Mapping[str, object]) -> None:
    """A message that opens a ticket or tells it something, behind what waits for its system."""
    if ticket.connector_id is None:
        return
    WebhookDelivery.objects.create(
        subscription_id=ticket.connector_id,
        ticket=ticket,
        event=event,
        verb=event.verb,
        message_id=f"evt_{event.pk}",
        body=orjson.dumps(body).decode(),
    )
    call_for([ticket.connector_id])


def _enqueue_for_webhooks(event: Event) -> None:
    active = WebhookSubscription.objects.filter(
        state=SubscriptionState.ACTIVE, ticketconnector__isnull=True
    )
    wanting = [one for one in active if one.wants(event.verb) and _is_of(one, event)]
    if not wanting:
        return
    body = _text(event.verb, event.time.isoformat(), payload_of(event))
    WebhookDelivery.objects.bulk_create(
        [
            WebhookDelivery(
                subscription=one,
                event=event,
                verb=event.verb,
                message_id=f"evt_{event.pk}",
                body=body,
            )
            for one in wanting
        ]
    )
    call_for(one.pk for one in wanting)


def enqueue_test(subscription: WebhookSubscription, *, verb: str = TEST) -> WebhookDelivery:
    """A message that says nothing, tried once and out of turn."""
    data = {"message": "This is a test. Nothing happened.", "subscription": subscription.pk}
    delivery = WebhookDelivery.objects.create(
        subscription=subscription,
        verb=verb,
        message_id=f"test_{uuid.uuid4().hex}",
        body=_text(verb, timezone.now().isoformat(), data),
        is_test=True,
    )
    call_for([subscription.pk])
    return delivery


def enqueue_again(deliveries: Iterable[WebhookDelivery]) -> list[WebhookDelivery]:
    """The same messages once more, under the ids that they had, behind what waits already."""
    again = WebhookDelivery.objects.bulk_create(
        [
            WebhookDelivery(
                subscription_id=one.subscription_id,
                event_id=one.event_id,
                verb=one.verb,
                message_id=one.message_id,
                body=one.body,
                ticket_id=one.ticket_id,
                replay_of_id=one.replay_of_id or one.pk,
            )
            for one in deliveries
        ]
    )
    call_for({one.subscription_id for one in again})
    return again


def call_for(subscription_ids: Iterable[int]) -> None:
    """Asks for a worker once the transaction is committed."""
    wanted = sorted(set(subscription_ids))
    if wanted:
        transaction.on_commit(
            partial(delivery_wanted.send, sender=WebhookDelivery, subscription_ids=wanted)
        )


def payload_of(event: Event) -> Mapping[str, object]:
    """Which records an event is about, and where they are read: thin, so that it never lies.

    What changed since is read over REST; only a decision brings its commands along.
    """
    found: dict[str, object] = {"event": event.pk, "text": event.text, "actor": event.actor}
    if event.incident is not None:
        found["incident"] = event.incident.pk
        found["reference"] = event.incident.reference
        found["status"] = event.incident.status
        found["url"] = f"{settings.PUBLIC_URL}/incidents/{event.incident.pk}"
        found["api_url"] = f"{settings.PUBLIC_URL}/api/v1/incidents/{event.incident.pk}"
    if event.job is not None:
        found["job"] = {"id": event.job.pk, "external_id": event.job.external_id}
    if event.host is not None:
        found["host"] = event.host.name
    if event.verb.startswith(_WITH_DECISION):
        found.update({name: event.data[name] for name in _DECIDED if name in event.data})
    return found


def _text(verb: str, timestamp: str, data: Mapping[str, object]) -> str:
    return orjson.dumps({"type": verb, "timestamp": timestamp, "data": data}).decode()


def _is_of(subscription: WebhookSubscription, event: Event) -> bool:
    """Whether the event is of the endpoint's cluster, where it is of one only."""
    if subscription.cluster_id is None:
        return True
    about = event.incident or event.job or event.host
    return about is not None and about.cluster_id == subscription.cluster_id
