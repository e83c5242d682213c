"""Tickets of incidents, and saved views of the desk."""

from typing import cast

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api import examples
from incidents.api.describing import takes
from incidents.api.idempotency import idempotent
from incidents.api.serializers.tickets import (
    SavedViewRequestSerializer,
    SavedViewSerializer,
    TicketRequestSerializer,
    TicketSerializer,
)
from incidents.api.viewsets.base import RecordViewSet, address, record_of, recorded
from incidents.exceptions import InvalidInput
from incidents.models import Incident, SavedView, TicketConnector, TicketLink, User
from incidents.roles import Capability
from incidents.services.ticket_opening import open_ticket
from incidents.services.tickets import link_ticket, unlink_ticket
from incidents.services.views import delete_view, save_view


class TicketsOfIncidentViewSet(RecordViewSet):
    """The tickets of one incident and of what was merged into it."""

    needs = {"POST": Capability.RESPOND}
    queryset = TicketLink.objects.order_by("-id")
    serializer_class = TicketSerializer

    def list(self, request: Request, incident: int) -> Response:
        """Tickets, newest first."""
        found = record_of(selectors.incidents(), incident)
        return self.page(selectors.tickets_of(found).order_by("-id"))

    @takes(
        TicketRequestSerializer,
        gives={201: TicketSerializer, 200: TicketSerializer, 202: TicketSerializer},
        examples=[examples.TICKET, examples.TICKET_TO_OPEN],
    )
    @idempotent()
    def create(self, request: Request, incident: int) -> Response:
        """Link a ticket, or open one in a ticket system; 200 where that was done already.

        A ticket that is to be opened is answered with 202: read it at `Location` until its `state`
        is `live`. However often this is sent, one ticket is opened.
        """
        found = record_of(selectors.incidents(), incident)
        given = self.given(TicketRequestSerializer)
        if "connector" in given:
            connector = _connector_of(found, given["connector"])
            ticket, new = open_ticket(actor=self.actor, incident=found, connector=connector)
            made = recorded(self.shown(ticket), at=address("ticket", ticket.pk), new=new)
            made.status_code = 202 if new else 200
            return made
        ticket, new = link_ticket(actor=self.actor, incident=found, **given)
        return recorded(self.shown(ticket), at=address("ticket", ticket.pk), new=new)


class TicketViewSet(RecordViewSet):
    """One ticket."""

    needs = {"DELETE": Capability.RESPOND}
    queryset = TicketLink.objects.none()
    serializer_class = TicketSerializer

    def get_queryset(self) -> QuerySet[TicketLink]:
        """Asked at each request, within the reach of whoever asks."""
        return TicketLink.objects.select_related("incident__job", "connector")

    def retrieve(self, request: Request, pk: int) -> Response:
        """One link to a ticket."""
        return Response(self.shown(record_of(self.get_queryset(), pk)))

    def destroy(self, request: Request, pk: int) -> Response:
        """Take the link away; the timeline keeps that it was there."""
        unlink_ticket(actor=self.actor, ticket=record_of(self.get_queryset(), pk))
        return Response(status=204)


class SavedViewViewSet(RecordViewSet):
    """Views of the desk: one's own, and those that others share."""

    queryset = SavedView.objects.select_related("owner").order_by("-id")
    serializer_class = SavedViewSerializer

    def list(self, request: Request) -> Response:
        """One's own and shared views, newest first."""
        return self.page(selectors.views_for(self._person()).order_by("-id"))

    @takes(
        SavedViewRequestSerializer,
        gives={201: SavedViewSerializer},
        examples=[examples.SAVED_VIEW],
    )
    @idempotent()
    def create(self, request: Request) -> Response:
        """Keep filters under a name. Sharing needs the scope `respond`."""
        given = self.given(SavedViewRequestSerializer)
        view = save_view(
            actor=self.actor, owner=self._person(), query=given.pop("query", ""), **given
        )
        return recorded(self.shown(view), at=address("view", view.pk))

    def retrieve(self, request: Request, pk: int) -> Response:
        """One view."""
        return Response(self.shown(record_of(selectors.views_for(self._person()), pk)))

    def destroy(self, request: Request, pk: int) -> Response:
        """Delete one's own view."""
        view = record_of(selectors.views_for(self._person()), pk)
        delete_view(actor=self.actor, view=view)
        return Response(status=204)

    def _person(self) -> User:
        return cast("User", self.request.user)


def _connector_of(incident: Incident, name: str) -> TicketConnector:
    for one in selectors.connectors_for(incident):
        if one.name == name:
            return one
    raise InvalidInput(
        "No active ticket system of this name serves the cluster.", field="connector"
    )
