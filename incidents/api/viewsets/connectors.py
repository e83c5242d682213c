"""Ticket systems: set up, tried, and the log of what was sent to them."""

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api import examples
from incidents.api.describing import takes
from incidents.api.etag import expected_version
from incidents.api.filters import DeliveryListFilter
from incidents.api.idempotency import idempotent
from incidents.api.serializers.connectors import (
    ConnectorChangeSerializer,
    ConnectorRequestSerializer,
    ConnectorSerializer,
)
from incidents.api.serializers.webhooks import DeliverySerializer
from incidents.api.viewsets.base import RecordViewSet, address, record_of, recorded
from incidents.models import TicketConnector, WebhookDelivery
from incidents.roles import Capability
from incidents.services import connectors

_OPERATE = dict.fromkeys(("GET", "POST", "PATCH", "DELETE"), Capability.OPERATE)


class ConnectorViewSet(RecordViewSet):
    """Ticket systems in which Aegis opens tickets."""

    needs = _OPERATE
    queryset = TicketConnector.objects.none()
    serializer_class = ConnectorSerializer

    def get_queryset(self) -> QuerySet[TicketConnector]:
        """Asked at each request, within the reach of whoever asks."""
        return selectors.connectors()

    def list(self, request: Request) -> Response:
        """Ticket systems, newest first."""
        return self.page(self.get_queryset())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One ticket system; never its secret."""
        return Response(self.shown(record_of(self.get_queryset(), pk)))

    @takes(
        ConnectorRequestSerializer,
        gives={201: ConnectorSerializer},
        examples=[examples.JIRA, examples.SERVICENOW],
    )
    @idempotent()
    def create(self, request: Request) -> Response:
        """Add a ticket system."""
        given = self.given(ConnectorRequestSerializer)
        made = connectors.add_connector(actor=self.actor, kind=given.pop("kind"), fields=given)
        shown = self.shown(record_of(self.get_queryset(), made.pk))
        return recorded(shown, at=address("connector", made.pk))

    @takes(ConnectorChangeSerializer, gives={200: ConnectorSerializer}, examples=[examples.PAUSE])
    def partial_update(self, request: Request, pk: int) -> Response:
        """Change a ticket system, pause it, or give it another secret."""
        found = record_of(self.get_queryset(), pk)
        version = expected_version(request, current=found.version)
        connectors.change_connector(
            actor=self.actor,
            connector=found,
            fields=self.given(ConnectorChangeSerializer),
            expected_version=version,
        )
        return Response(self.shown(record_of(self.get_queryset(), pk)))

    def destroy(self, request: Request, pk: int) -> Response:
        """Remove a ticket system. Its tickets stay as links."""
        found = record_of(self.get_queryset(), pk)
        connectors.remove_connector(actor=self.actor, connector=found)
        return Response(status=204)

    @takes(None, gives={202: DeliverySerializer})
    @idempotent()
    def test(self, request: Request, pk: int) -> Response:
        """Ask it, once, whether it would take tickets. Read the delivery to see its answer."""
        found = record_of(self.get_queryset(), pk)
        delivery = connectors.test_connector(actor=self.actor, connector=found)
        headers = {"Location": address("delivery", delivery.pk)}
        return Response(DeliverySerializer(delivery).data, status=202, headers=headers)


class DeliveriesOfConnectorViewSet(RecordViewSet):
    """What was sent to one ticket system."""

    needs = _OPERATE
    queryset = WebhookDelivery.objects.none()
    serializer_class = DeliverySerializer
    filterset_class = DeliveryListFilter

    def get_queryset(self) -> QuerySet[WebhookDelivery]:
        """Asked at each request, within the reach of whoever asks."""
        return selectors.deliveries()

    def list(self, request: Request, connector: int) -> Response:
        """Messages to a ticket system, newest first."""
        found = record_of(selectors.connectors(), connector)
        return self.page(self.get_queryset().filter(subscription=found.pk))
