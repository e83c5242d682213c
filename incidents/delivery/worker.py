"""One worker's turn at one endpoint: what waits, in order, until it fails or time is up."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from incidents import selectors
from incidents.choices import DeliveryState, SubscriptionState
from incidents.delivery import tickets
from incidents.delivery.address import Destination, UnresolvedError, destination_of
from incidents.delivery.http import Answer, UnreachableError, post
from incidents.delivery.outcome import Try, settle
from incidents.delivery.signing import signed_headers
from incidents.exceptions import DestinationRefused, SealBroken
from incidents.models import TicketConnector, WebhookDelivery, WebhookSubscription
from incidents.sealing import unseal

#: How long one turn lasts at most, before other endpoints get the worker.
TURN_SECONDS = 20.0
#: How long an endpoint has to answer.
ANSWER_SECONDS = 15.0
#: Longer than everything that one message may take (`ticket_client.BUDGET_SECONDS`).
_LEASE = timedelta(seconds=60)
_AGENT = "Aegis-Webhooks/1"


def take_turn(subscription_id: int, *, owner: str) -> bool:
    """Sends what waits for an endpoint. Returns whether more waits that could go at once.

    Only one worker at a time sends to one endpoint; for another one this does nothing.
    """
    ends = time.monotonic() + TURN_SECONDS
    while _claim(subscription_id, owner):
        subscription = WebhookSubscription.objects.get(pk=subscription_id)
        delivery = _next(subscription)
        if delivery is None or time.monotonic() > ends:
            _release(subscription_id, owner)
            return delivery is not None
        settle(delivery, owner, _send(subscription, delivery))
    return False


def endpoints_due(now: datetime) -> Sequence[int]:
    """The endpoints for which something waits that may be tried now."""
    waiting = Q(deliveries__state=DeliveryState.WAITING)
    in_turn = Q(state=SubscriptionState.ACTIVE) & (Q(retry_at=None) | Q(retry_at__lte=now))
    free = Q(lease_expires_at=None) | Q(lease_expires_at__lt=now)
    due = WebhookSubscription.objects.filter(waiting & free & (in_turn | _TEST))
    return list(due.distinct().order_by("pk").values_list("pk", flat=True))


_TEST = Q(deliveries__is_test=True, deliveries__state=DeliveryState.WAITING)


def _claim(pk: int, owner: str) -> bool:
    now = timezone.now()
    free = Q(lease_expires_at=None) | Q(lease_expires_at__lt=now) | Q(lease_owner=owner)
    claimed = WebhookSubscription.objects.filter(free, pk=pk).update(
        lease_owner=owner, lease_expires_at=now + _LEASE
    )
    return bool(claimed)


def _release(pk: int, owner: str) -> None:
    held = WebhookSubscription.objects.filter(pk=pk, lease_owner=owner)
    held.update(lease_owner="", lease_expires_at=None)


def _next(subscription: WebhookSubscription) -> WebhookDelivery | None:
    """A test first; else the oldest message, if its endpoint may be tried.

    No message overtakes an event whose transaction has not ended (`last_settled_event`).
    """
    waiting = subscription.deliveries.filter(state=DeliveryState.WAITING).order_by("id")
    if test := waiting.filter(is_test=True).first():
        return test
    now = timezone.now()
    if subscription.state != SubscriptionState.ACTIVE:
        return None
    if subscription.retry_at is not None and subscription.retry_at > now:
        return None
    head = waiting.first()
    if head is None or head.event_id is None:
        return head
    return head if head.event_id <= selectors.last_settled_event(now) else None


def _send(subscription: WebhookSubscription, delivery: WebhookDelivery) -> Try:
    at, began = timezone.now(), time.monotonic()
    address, answer, error = "", None, ""
    try:
        connector = TicketConnector.objects.filter(pk=subscription.pk).first()
        if connector is not None:
            address, answer = tickets.send(connector, delivery)
        else:
            place = destination_of(subscription.url, allowed=settings.WEBHOOK_NETWORKS)
            address = place.address
            answer = _post(subscription, delivery, place, at)
    except (UnresolvedError, UnreachableError, DestinationRefused, SealBroken) as failure:
        error = str(failure)
    taken = int((time.monotonic() - began) * 1000)
    return Try(at=at, duration_ms=taken, address=address, answer=answer, error=error)


def _post(
    subscription: WebhookSubscription, delivery: WebhookDelivery, place: Destination, at: datetime
) -> Answer:
    headers = {
        "Content-Type": "application/json",
        "User-Agent": _AGENT,
        **signed_headers(
            message_id=delivery.message_id,
            at=at,
            body=delivery.body,
            secrets=_secrets(subscription, at),
        ),
    }
    return post(place, body=delivery.body.encode(), headers=headers, seconds=ANSWER_SECONDS)


def _secrets(subscription: WebhookSubscription, now: datetime) -> Sequence[str]:
    sealed = [subscription.secret]
    if subscription.signs_with_previous(now):
        sealed.append(subscription.previous_secret)
    return [unseal(one) for one in sealed]
