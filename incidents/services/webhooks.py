"""Setting up endpoints: made, changed, tested, their secrets rotated, messages sent again."""

import re
import secrets
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from incidents.choices import DeliveryState, SubscriptionState
from incidents.exceptions import InvalidInput, StaleVersion, TransitionRefused
from incidents.models import Cluster, WebhookDelivery, WebhookSubscription
from incidents.roles import Actor, Capability
from incidents.sealing import seal
from incidents.services import outbox
from incidents.services.events import record

_PATTERN = re.compile(r"(?:\*|[a-z][a-z_-]*(?:\.(?:\*|[a-z][a-z_-]*(?:\.[a-z_-]+)*))?)")
#: How long the earlier secret signs beside a new one, unless the caller says otherwise.
ROTATION = timedelta(days=1)
#: The most messages that are sent again in one call.
MOST_REPLAYED = 1000


@dataclass(frozen=True, slots=True)
class NewSecret:
    """An endpoint and its new secret, which is shown this once."""

    subscription: WebhookSubscription
    secret: str


@transaction.atomic
def subscribe(
    *,
    actor: Actor,
    name: str,
    url: str,
    events: Sequence[str] = (),
    cluster: Cluster | None = None,
) -> NewSecret:
    """A new endpoint with a secret. Raises `InvalidInput` for a bad pattern or a taken name."""
    actor.require(Capability.OPERATE)
    actor.reach.require_cluster(cluster.name if cluster else None)
    secret = _new_secret()
    subscription = WebhookSubscription(
        name=_clean_name(name),
        url=url.strip(),
        events=clean_patterns(events),
        cluster=cluster,
        secret=seal(secret),
        created_by=actor.label,
    )
    _save(subscription)
    _record(actor, subscription, "webhook.added", f"Webhook {subscription} added")
    return NewSecret(subscription, secret)


@transaction.atomic
def change(
    *,
    actor: Actor,
    subscription: WebhookSubscription,
    fields: Mapping[str, object],
    expected_version: int | None = None,
) -> WebhookSubscription:
    """Changes name, url, events, cluster or state (active, paused).

    Making an endpoint active again forgets its failures, and sends what waits.
    """
    actor.require(Capability.OPERATE)
    current = locked(subscription)
    if expected_version is not None and current.version != expected_version:
        raise StaleVersion(expected=expected_version, current=current.version)
    given = dict(fields)
    if "cluster" in given:
        actor.reach.require_cluster(getattr(given["cluster"], "name", None))
    if "events" in given:
        given["events"] = clean_patterns(given["events"])  # type: ignore[arg-type]
    if "name" in given:
        given["name"] = _clean_name(str(given["name"]))
    state = given.get("state", current.state)
    if state == SubscriptionState.DISABLED and current.state != state:
        raise InvalidInput("An endpoint is made active or paused.", field="state")
    if state != current.state:
        current.state_reason = ""
    if state == SubscriptionState.ACTIVE and (state != current.state or "url" in given):
        current.failing_since, current.failure_count, current.retry_at = None, 0, None
    for field, value in given.items():
        setattr(current, field, value)
    current.version += 1
    _save(current)
    text = f"Webhook {current} changed: {', '.join(sorted(given))}"
    _record(actor, current, "webhook.changed", text, fields=sorted(given), state=current.state)
    outbox.call_for([current.pk])
    return current


@transaction.atomic
def rotate(
    *, actor: Actor, subscription: WebhookSubscription, overlap: timedelta = ROTATION
) -> NewSecret:
    """A new secret. The present one signs as well until `overlap` has passed."""
    actor.require(Capability.OPERATE)
    current = locked(subscription)
    secret = _new_secret()
    current.previous_secret, current.secret = current.secret, seal(secret)
    current.previous_until = timezone.now() + overlap
    current.version += 1
    current.save()
    _record(actor, current, "webhook.rotated", f"Webhook {current} has a new secret")
    return NewSecret(current, secret)


@transaction.atomic
def unsubscribe(*, actor: Actor, subscription: WebhookSubscription) -> None:
    """Removes an endpoint with its delivery log; the timeline keeps that it was there."""
    actor.require(Capability.OPERATE)
    _record(actor, subscription, "webhook.removed", f"Webhook {subscription} removed")
    subscription.delete()


@transaction.atomic
def test(*, actor: Actor, subscription: WebhookSubscription) -> WebhookDelivery:
    """Sends a message that says nothing, at once and only once, whatever waits."""
    actor.require(Capability.OPERATE)
    _record(actor, subscription, "webhook.tested", f"Test sent to webhook {subscription}")
    return outbox.enqueue_test(subscription)


@transaction.atomic
def replay(*, actor: Actor, deliveries: Sequence[WebhookDelivery]) -> list[WebhookDelivery]:
    """Sends ended messages once more. Raises `TransitionRefused` for one that still waits."""
    actor.require(Capability.OPERATE)
    if len(deliveries) > MOST_REPLAYED:
        raise InvalidInput(f"At most {MOST_REPLAYED} messages at once.", field="since")
    waiting = [one for one in deliveries if one.state == DeliveryState.WAITING]
    if waiting:
        raise TransitionRefused(f"Message {waiting[0].pk} still waits to be sent.")
    again = outbox.enqueue_again(one for one in deliveries if not one.is_test)
    for subscription in {one.subscription for one in deliveries}:
        count = sum(one.subscription_id == subscription.pk for one in again)
        text = f"{count} messages to webhook {subscription} sent again"
        _record(actor, subscription, "webhook.replayed", text, count=count)
    return again


@transaction.atomic
def skip(*, actor: Actor, delivery: WebhookDelivery) -> WebhookDelivery:
    """Gives a waiting message up, so that those behind it go out."""
    actor.require(Capability.OPERATE)
    given_up = WebhookDelivery.objects.filter(pk=delivery.pk, state=DeliveryState.WAITING).update(
        state=DeliveryState.GIVEN_UP,
        ended_at=timezone.now(),
        reason=f"Skipped by {actor.label}.",
    )
    if not given_up:
        raise TransitionRefused("The message does not wait any more.")
    WebhookSubscription.objects.filter(pk=delivery.subscription_id).update(retry_at=None)
    subscription = delivery.subscription
    _record(actor, subscription, "webhook.skipped", f"Message {delivery.pk} skipped")
    outbox.call_for([subscription.pk])
    delivery.refresh_from_db()
    return delivery


def clean_patterns(events: Sequence[str]) -> list[str]:
    """Verbs or patterns, each once. Raises `InvalidInput` for what no event can be called."""
    for one in events:
        if not isinstance(one, str) or not _PATTERN.fullmatch(one):
            raise InvalidInput(
                f"{one!r} is no event: write incident.opened, incident.* or *.", field="events"
            )
    return list(dict.fromkeys(events))


def locked(subscription: WebhookSubscription) -> WebhookSubscription:
    """The endpoint as it stands now, held until the transaction ends."""
    return WebhookSubscription.objects.select_for_update().get(pk=subscription.pk)


def _save(subscription: WebhookSubscription) -> None:
    try:
        with transaction.atomic():
            subscription.save()
    except IntegrityError as error:
        raise InvalidInput("Another webhook has this name.", field="name") from error


def _clean_name(name: str) -> str:
    if not name.strip():
        raise InvalidInput("A webhook needs a name.", field="name")
    return name.strip()


def _new_secret() -> str:
    """256 random bits in the form of Standard Webhooks."""
    return f"whsec_{b64encode(secrets.token_bytes(32)).decode()}"


def _record(
    actor: Actor, subscription: WebhookSubscription, verb: str, text: str, **data: object
) -> None:
    record(actor=actor, verb=verb, text=text, data={"webhook": subscription.pk, **data})
