"""Every address below `/api/v1/` by which other systems are connected."""

from incidents.api.addresses import LIST, LIST_AND_CREATE, ONE, ONE_TO_CHANGE, at
from incidents.api.viewsets.connectors import ConnectorViewSet, DeliveriesOfConnectorViewSet
from incidents.api.viewsets.inbox import InboxDoor, PagerDutyDoor
from incidents.api.viewsets.inboxes import InboxViewSet, MessagesOfInboxViewSet
from incidents.api.viewsets.webhooks import (
    DeliveriesOfWebhookViewSet,
    DeliveryViewSet,
    WebhookViewSet,
)

_REMOVED = {"delete": "destroy"}

outward = [
    at("webhooks", WebhookViewSet, LIST_AND_CREATE, "webhooks"),
    at("webhooks/<int:pk>", WebhookViewSet, ONE_TO_CHANGE | _REMOVED, "webhook"),
    at("webhooks/<int:pk>/secret", WebhookViewSet, {"post": "rotate"}, "webhook-secret"),
    at("webhooks/<int:pk>/test", WebhookViewSet, {"post": "test"}, "webhook-test"),
    at("webhooks/<int:pk>/replay", WebhookViewSet, {"post": "replay"}, "webhook-replay"),
    at("webhooks/<int:webhook>/deliveries", DeliveriesOfWebhookViewSet, LIST, "deliveries"),
    at("deliveries/<int:pk>", DeliveryViewSet, ONE, "delivery"),
    at("deliveries/<int:pk>/replay", DeliveryViewSet, {"post": "replay"}, "delivery-replay"),
    at("deliveries/<int:pk>/skip", DeliveryViewSet, {"post": "skip"}, "delivery-skip"),
    at("connectors", ConnectorViewSet, LIST_AND_CREATE, "connectors"),
    at("connectors/<int:pk>", ConnectorViewSet, ONE_TO_CHANGE | _REMOVED, "connector"),
    at("connectors/<int:pk>/test", ConnectorViewSet, {"post": "test"}, "connector-test"),
    at(
        "connectors/<int:connector>/deliveries",
        DeliveriesOfConnectorViewSet,
        LIST,
        "connector-deliveries",
    ),
    at("inboxes", InboxViewSet, LIST_AND_CREATE, "inboxes"),
    at("inboxes/<int:pk>", InboxViewSet, ONE_TO_CHANGE, "inbox"),
    at("inboxes/<int:pk>/try", InboxViewSet, {"post": "trial"}, "inbox-try"),
    at("inboxes/<int:inbox>/messages", MessagesOfInboxViewSet, LIST, "inbox-messages"),
    at("inbox/pagerduty/v2/enqueue", PagerDutyDoor, {"post": "create"}, "pagerduty"),
    at("inbox/<slug:name>", InboxDoor, {"post": "create"}, "inbox-door"),
]
