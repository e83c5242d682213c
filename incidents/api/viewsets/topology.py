"""Clusters and hosts."""

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api.describing import takes
from incidents.api.etag import etag_of, require_match
from incidents.api.filters import HostListFilter
from incidents.api.serializers.topology import (
    ClusterSerializer,
    HostChangeSerializer,
    HostSerializer,
)
from incidents.api.viewsets.base import RecordViewSet, record_of
from incidents.models import Host
from incidents.roles import Capability
from incidents.services import hosts


class ClusterViewSet(RecordViewSet):
    """Sets of hosts with one scheduler."""

    queryset = selectors.clusters()
    serializer_class = ClusterSerializer

    def list(self, request: Request) -> Response:
        """Every cluster."""
        return self.page(selectors.clusters())


class HostViewSet(RecordViewSet):
    """Machines and their state."""

    needs = {"PATCH": Capability.OPERATE}
    queryset = selectors.hosts()
    serializer_class = HostSerializer
    filterset_class = HostListFilter

    def list(self, request: Request) -> Response:
        """Hosts, newest first."""
        return self.page(selectors.hosts())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One host."""
        return Response(self.shown(record_of(selectors.hosts(), pk)))

    @takes(HostChangeSerializer, gives={200: HostSerializer})
    def partial_update(self, request: Request, pk: int) -> Response:
        """Note that a host was isolated, repaired, or returned to service."""
        change = self.given(HostChangeSerializer)
        with transaction.atomic():
            locked = record_of(Host.objects.select_for_update(), pk)
            require_match(request, etag_of(self.shown(record_of(selectors.hosts(), pk))))
            hosts.set_state(actor=self.actor, host=locked, **change)
        return Response(self.shown(record_of(selectors.hosts(), pk)))
