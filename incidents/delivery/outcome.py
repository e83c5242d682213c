"""What a try means: delivered, tried again later, given up, or the endpoint wants no more."""

from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

from django.db import transaction
from django.utils import timezone

from incidents.choices import DeliveryState, SubscriptionState
from incidents.delivery.http import Answer
from incidents.delivery.schedule import (
    GIVE_UP_AFTER,
    REFUSALS,
    REFUSALS_OF_TICKETS,
    TRIES_OF_REFUSED,
    UNTIL_FOUND,
    next_try,
)
from incidents.models import WebhookAttempt, WebhookDelivery, WebhookSubscription
from incidents.roles import Actor
from incidents.services import ticket_opening
from incidents.services.events import record


@dataclass(frozen=True, slots=True)
class Try:
    """One try: what was answered, or why nothing was."""

    at: datetime
    duration_ms: int
    address: str
    answer: Answer | None
    error: str

    @property
    def told(self) -> str:
        if self.answer is None:
            return self.error
        if 300 <= self.answer.status < 400:
            return f"HTTP {self.answer.status}: redirects are not followed."
        return f"HTTP {self.answer.status}"


@transaction.atomic
def settle(delivery: WebhookDelivery, owner: str, tried: Try) -> None:
    """Writes a try down and what follows; nothing where the endpoint is no longer `owner`'s."""
    subscription = (
        WebhookSubscription.objects.select_for_update()
        .filter(pk=delivery.subscription_id, lease_owner=owner)
        .first()
    )
    if subscription is None:
        return
    delivery.attempt_count += 1
    WebhookAttempt.objects.create(
        delivery=delivery,
        number=delivery.attempt_count,
        at=tried.at,
        duration_ms=tried.duration_ms,
        address=tried.address,
        status=tried.answer.status if tried.answer else None,
        answer=tried.answer.text if tried.answer else "",
        error=tried.error or ("" if tried.answer and tried.answer.is_success else tried.told),
    )
    _end_or_go_on(subscription, delivery, tried)
    if delivery.ticket is not None and delivery.state != DeliveryState.DELIVERED:
        given_up = delivery.state == DeliveryState.GIVEN_UP
        ticket_opening.not_opened(ticket=delivery.ticket, error=tried.told, given_up=given_up)
    delivery.save(update_fields=["attempt_count", "state", "ended_at", "reason"])
    subscription.save(
        update_fields=["state", "state_reason", "failing_since", "failure_count", "retry_at"]
    )


def _end_or_go_on(subscription: WebhookSubscription, delivery: WebhookDelivery, tried: Try) -> None:
    answer, now = tried.answer, timezone.now()
    if answer is not None and answer.is_success:
        _end(delivery, DeliveryState.DELIVERED, "")
        subscription.failing_since, subscription.failure_count = None, 0
        subscription.retry_at = None
        return
    if delivery.is_test:
        _end(delivery, DeliveryState.GIVEN_UP, tried.told)
        return
    subscription.failure_count += 1
    subscription.failing_since = subscription.failing_since or tried.at
    if answer is not None and answer.status == HTTPStatus.GONE and delivery.ticket_id is None:
        _end(delivery, DeliveryState.GIVEN_UP, tried.told)
        _disable(subscription)
        return
    refusals = REFUSALS if delivery.ticket_id is None else REFUSALS_OF_TICKETS
    refused = answer is not None and answer.status in refusals
    if refused and delivery.attempt_count >= TRIES_OF_REFUSED:
        _end(delivery, DeliveryState.GIVEN_UP, f"{tried.told}, {TRIES_OF_REFUSED} times over.")
        subscription.failure_count, subscription.retry_at = 0, None
        return
    if now - delivery.created_at > GIVE_UP_AFTER:
        reason = f"Not delivered within {GIVE_UP_AFTER.days} days; last: {tried.told}"
        _end(delivery, DeliveryState.GIVEN_UP, reason)
    subscription.retry_at = next_try(
        failures=subscription.failure_count,
        now=now,
        retry_after=answer.headers.get("retry-after", "") if answer else "",
    )
    unclear = answer is None or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if unclear and delivery.ticket_id is not None:
        subscription.retry_at = max(subscription.retry_at, now + UNTIL_FOUND)


def _end(delivery: WebhookDelivery, state: DeliveryState, reason: str) -> None:
    delivery.state, delivery.reason, delivery.ended_at = state, reason, timezone.now()


def _disable(subscription: WebhookSubscription) -> None:
    """The endpoint says that it is gone (410): nothing more is sent until a person says so."""
    subscription.state = SubscriptionState.DISABLED
    subscription.state_reason = "The endpoint answered 410 Gone."
    record(
        actor=Actor.system(),
        verb="webhook.disabled",
        text=f"Webhook {subscription} disabled: it answered 410 Gone",
        data={"webhook": subscription.pk},
    )
