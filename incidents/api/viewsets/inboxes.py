"""Setting up inboxes, trying a mapping on a sample, and what came in."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.alert_mapping import check, read
from incidents.api import examples
from incidents.api.describing import takes
from incidents.api.etag import expected_version
from incidents.api.filters import MessageListFilter
from incidents.api.idempotency import idempotent
from incidents.api.serializers.inbox import (
    InboxChangeSerializer,
    InboxMessageSerializer,
    InboxRequestSerializer,
    InboxSerializer,
    TrialResultSerializer,
    TrialSerializer,
)
from incidents.api.viewsets.base import RecordViewSet, address, record_of, recorded
from incidents.exceptions import InvalidInput
from incidents.models import Inbox
from incidents.roles import Capability
from incidents.services import inbox as services

_OPERATE = dict.fromkeys(("GET", "POST", "PATCH"), Capability.OPERATE)


class InboxViewSet(RecordViewSet):
    """Inboxes and their mappings."""

    needs = _OPERATE
    queryset = selectors.inboxes()
    serializer_class = InboxSerializer

    def list(self, request: Request) -> Response:
        """Inboxes, newest first; those of known systems appear with their first message."""
        return self.page(selectors.inboxes())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One inbox."""
        return Response(self.shown(record_of(selectors.inboxes(), pk)))

    @takes(InboxRequestSerializer, gives={201: InboxSerializer}, examples=[examples.GENERIC_INBOX])
    @idempotent()
    def create(self, request: Request) -> Response:
        """Set up an inbox, for instance one a cluster, or one with a mapping of your own."""
        given = self.given(InboxRequestSerializer)
        if Inbox.objects.filter(name=given["name"]).exists():
            raise InvalidInput("Another inbox has this name.", field="name")
        made = services.save_inbox(actor=self.actor, inbox=Inbox(), fields=given)
        shown = self.shown(record_of(selectors.inboxes(), made.pk))
        return recorded(shown, at=address("inbox", made.pk))

    @takes(InboxChangeSerializer, gives={200: InboxSerializer})
    def partial_update(self, request: Request, pk: int) -> Response:
        """Change an inbox's cluster or mapping, or close it."""
        found = record_of(selectors.inboxes(), pk)
        version = expected_version(request, current=found.version)
        services.save_inbox(
            actor=self.actor,
            inbox=found,
            fields=self.given(InboxChangeSerializer),
            expected_version=version,
        )
        return Response(self.shown(record_of(selectors.inboxes(), pk)))

    @takes(TrialSerializer, gives={200: TrialResultSerializer}, examples=[examples.TRIAL])
    def trial(self, request: Request, pk: int) -> Response:
        """Read a sample with the inbox's mapping, or with one given here. Nothing comes of it."""
        found = record_of(selectors.inboxes(), pk)
        given: dict[str, Any] = self.given(TrialSerializer)
        mapping = given.get("mapping") or services.mapping_of(found)
        check(mapping)
        alerts = [one.to_dict() for one in read(mapping, given["sample"])]
        return Response(TrialResultSerializer({"alerts": alerts}).data)


class MessagesOfInboxViewSet(RecordViewSet):
    """What came into an inbox."""

    needs = _OPERATE
    queryset = selectors.inbox_messages()
    serializer_class = InboxMessageSerializer
    filterset_class = MessageListFilter

    def list(self, request: Request, inbox: int) -> Response:
        """Messages of an inbox, newest first; kept for a week after they were taken in."""
        found = record_of(selectors.inboxes(), inbox)
        return self.page(selectors.inbox_messages().filter(inbox=found))
