"""Reads of what connects Aegis to other systems."""

from django.db.models import Count, Q, QuerySet

from incidents.choices import DeliveryState, MessageState
from incidents.models import Inbox, InboxMessage, WebhookDelivery, WebhookSubscription


def webhooks() -> QuerySet[WebhookSubscription]:
    """Every endpoint with how many messages wait for it, by name."""
    waiting = Q(deliveries__state=DeliveryState.WAITING)
    return (
        WebhookSubscription.objects.filter(ticketconnector__isnull=True)
        .select_related("cluster")
        .annotate(waiting_count=Count("deliveries", filter=waiting))
        .order_by("name")
    )


def deliveries() -> QuerySet[WebhookDelivery]:
    """Every message with its endpoint, newest first."""
    return WebhookDelivery.objects.select_related("subscription", "event__incident").order_by("-id")


def deliveries_in_full() -> QuerySet[WebhookDelivery]:
    """Messages with every try."""
    return deliveries().prefetch_related("attempts")


def inboxes() -> QuerySet[Inbox]:
    """Every inbox with how many messages wait in it or could not be read, by name."""
    waiting = Q(messages__state=MessageState.WAITING)
    refused = Q(messages__state=MessageState.REFUSED)
    return (
        Inbox.objects.select_related("cluster")
        .annotate(
            waiting_count=Count("messages", filter=waiting, distinct=True),
            refused_count=Count("messages", filter=refused, distinct=True),
        )
        .order_by("name")
    )


def inbox_messages() -> QuerySet[InboxMessage]:
    """Every message that came in and is still kept, newest first."""
    return InboxMessage.objects.select_related("inbox").order_by("-id")
