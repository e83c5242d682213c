"""Webhooks: endpoints, their secrets, and the log of what was sent to them."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api import examples
from incidents.api.describing import takes
from incidents.api.etag import expected_version
from incidents.api.filters import DeliveryListFilter
from incidents.api.idempotency import idempotent
from incidents.api.serializers.webhooks import (
    DeliveryInFullSerializer,
    DeliverySerializer,
    ReplayedSerializer,
    ReplayRequestSerializer,
    RotationSerializer,
    WebhookChangeSerializer,
    WebhookRequestSerializer,
    WebhookSerializer,
    WebhookWithSecretSerializer,
)
from incidents.api.viewsets.base import RecordViewSet, address, record_of, recorded
from incidents.models import WebhookDelivery
from incidents.roles import Capability
from incidents.services import webhooks

_OPERATE = dict.fromkeys(("GET", "POST", "PATCH", "DELETE"), Capability.OPERATE)


class WebhookViewSet(RecordViewSet):
    """Endpoints that are told what happens."""

    needs = _OPERATE
    queryset = selectors.webhooks()
    serializer_class = WebhookSerializer

    def list(self, request: Request) -> Response:
        """Endpoints, newest first."""
        return self.page(selectors.webhooks())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One endpoint; never its secret."""
        return Response(self.shown(record_of(selectors.webhooks(), pk)))

    @takes(
        WebhookRequestSerializer,
        gives={201: WebhookWithSecretSerializer},
        examples=[examples.WEBHOOK],
    )
    @idempotent(hiding=("secret",))
    def create(self, request: Request) -> Response:
        """Add an endpoint. Its secret is in this answer and nowhere else."""
        made = webhooks.subscribe(actor=self.actor, **self.given(WebhookRequestSerializer))
        return recorded(self._with_secret(made), at=address("webhook", made.subscription.pk))

    @takes(WebhookChangeSerializer, gives={200: WebhookSerializer}, examples=[examples.PAUSE])
    def partial_update(self, request: Request, pk: int) -> Response:
        """Change an endpoint, pause it, or make it active again after it answered 410."""
        found = record_of(selectors.webhooks(), pk)
        version = expected_version(request, current=found.version)
        webhooks.change(
            actor=self.actor,
            subscription=found,
            fields=self.given(WebhookChangeSerializer),
            expected_version=version,
        )
        return Response(self.shown(record_of(selectors.webhooks(), pk)))

    def destroy(self, request: Request, pk: int) -> Response:
        """Remove an endpoint with its delivery log."""
        webhooks.unsubscribe(actor=self.actor, subscription=record_of(selectors.webhooks(), pk))
        return Response(status=204)

    @takes(RotationSerializer, gives={200: WebhookWithSecretSerializer})
    @idempotent(hiding=("secret",))
    def rotate(self, request: Request, pk: int) -> Response:
        """Give an endpoint a new secret; messages carry signatures by both for a while."""
        found = record_of(selectors.webhooks(), pk)
        made = webhooks.rotate(
            actor=self.actor, subscription=found, **self.given(RotationSerializer)
        )
        return Response(self._with_secret(made))

    @takes(None, gives={202: DeliverySerializer})
    @idempotent()
    def test(self, request: Request, pk: int) -> Response:
        """Send a test message, at once and only once. Read the delivery to see the answer."""
        found = record_of(selectors.webhooks(), pk)
        return _on_its_way(webhooks.test(actor=self.actor, subscription=found))

    @takes(ReplayRequestSerializer, gives={202: ReplayedSerializer}, examples=[examples.REPLAY])
    @idempotent()
    def replay(self, request: Request, pk: int) -> Response:
        """Send many ended messages again, at most 1,000, in the order in which they were made."""
        given = self.given(ReplayRequestSerializer)
        rows = record_of(selectors.webhooks(), pk).deliveries.filter(state=given["state"])
        if "since" in given:
            rows = rows.filter(created_at__gte=given["since"])
        if "until" in given:
            rows = rows.filter(created_at__lte=given["until"])
        chosen = rows.filter(is_test=False).select_related("subscription").order_by("id")
        most = list(chosen[: webhooks.MOST_REPLAYED + 1])
        again = webhooks.replay(actor=self.actor, deliveries=most)
        return Response({"deliveries": [one.pk for one in again]}, status=202)

    def _with_secret(self, made: webhooks.NewSecret) -> dict[str, Any]:
        found = record_of(selectors.webhooks(), made.subscription.pk)
        return {**self.shown(found), "secret": made.secret}


class DeliveriesOfWebhookViewSet(RecordViewSet):
    """What was sent to one endpoint."""

    needs = _OPERATE
    queryset = selectors.deliveries()
    serializer_class = DeliverySerializer
    filterset_class = DeliveryListFilter

    def list(self, request: Request, webhook: int) -> Response:
        """Messages to an endpoint, newest first."""
        found = record_of(selectors.webhooks(), webhook)
        return self.page(selectors.deliveries().filter(subscription=found))


class DeliveryViewSet(RecordViewSet):
    """One message, its body, and each answer to it."""

    needs = _OPERATE
    queryset = selectors.deliveries_in_full()
    serializer_class = DeliveryInFullSerializer

    def retrieve(self, request: Request, pk: int) -> Response:
        """One message with exactly what was sent, and every try with its answer."""
        return Response(self.shown(record_of(selectors.deliveries_in_full(), pk)))

    @takes(None, gives={202: DeliverySerializer})
    @idempotent()
    def replay(self, request: Request, pk: int) -> Response:
        """Send a message again, under the id that it had."""
        found = record_of(selectors.deliveries(), pk)
        (again,) = webhooks.replay(actor=self.actor, deliveries=[found]) or [found]
        return _on_its_way(again)

    @takes(None, gives={200: DeliverySerializer})
    @idempotent()
    def skip(self, request: Request, pk: int) -> Response:
        """Give a waiting message up, so that those behind it go out."""
        found = record_of(selectors.deliveries(), pk)
        skipped = webhooks.skip(actor=self.actor, delivery=found)
        return Response(DeliverySerializer(skipped).data)


def _on_its_way(delivery: WebhookDelivery) -> Response:
    headers = {"Location": address("delivery", delivery.pk)}
    return Response(DeliverySerializer(delivery).data, status=202, headers=headers)
