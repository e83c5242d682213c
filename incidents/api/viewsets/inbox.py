"""The doors for alerts: fast, never a 4xx or 429 for a good alert, 503 where none can be stored."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response

from incidents.api import examples
from incidents.api.authentication import TokenAuthentication
from incidents.api.describing import takes
from incidents.api.parsers import AlertParser
from incidents.api.problems import Problem
from incidents.api.serializers.inbox import ReceivedSerializer
from incidents.api.viewsets.base import RecordViewSet
from incidents.models import ApiToken, Inbox, User
from incidents.reach import limit
from incidents.roles import Actor, Capability
from incidents.selectors import inboxes
from incidents.services import inbox as services
from incidents.services import tokens

_PAGERDUTY = "pagerduty"
_PAGERDUTY_ACTIONS = frozenset({"trigger", "acknowledge", "resolve"})
#: CloudEvents in binary mode: what stands in headers (`ce-id`, …) and not in the body.
_CE_HEADERS = ("id", "source", "type", "specversion", "subject", "time")


class Door(RecordViewSet):
    """Where other systems hand in their alerts."""

    needs = {"POST": Capability.RESPOND}
    parser_classes = [AlertParser]
    queryset = inboxes()
    serializer_class = ReceivedSerializer
    rate_limited = False


class InboxDoor(Door):
    """Where alerts come in as JSON."""

    @takes(
        {"application/json": OpenApiTypes.ANY},
        gives={202: ReceivedSerializer},
        examples=[examples.ALERTMANAGER],
    )
    def create(self, request: Request, name: str) -> Response:
        """Hand in alerts: `alertmanager`, `cloudevents`, `nvsentinel`, or an inbox's own name.

        The answer is 202 once the message is stored, and 503 where it cannot be: send it again
        then. Alerts that name a job or host open or join its incident; the same alert again
        changes nothing; an incident whose alerts have all ended is closed, unless someone or a
        diagnosis works on it.
        """
        found = _inbox(name)
        body = _with_headers(request, request.data)
        message = services.receive(actor=self.actor, inbox=found, body=body)
        return Response({"status": "success", "message": message.pk}, status=202)


class RoutingKeyAuthentication(BaseAuthentication):
    """PagerDuty's clients send no header: their `routing_key` is an Aegis token."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Owner and token; None where the event holds no routing key."""
        key = request.data.get("routing_key") if isinstance(request.data, Mapping) else None
        if not isinstance(key, str):
            return None
        token = tokens.authenticate(raw=key)
        if token is None:
            raise AuthenticationFailed("The routing key is no token, or expired or revoked.")
        limit(Actor.of_token(token).reach)
        return token.owner, token


class PagerDutyDoor(Door):
    """Takes what is meant for PagerDuty's Events API v2."""

    authentication_classes = [TokenAuthentication, RoutingKeyAuthentication]

    @takes(
        {"application/json": OpenApiTypes.OBJECT},
        gives={202: ReceivedSerializer},
        examples=[examples.PAGERDUTY],
    )
    def create(self, request: Request) -> Response:
        """Hand in an event in PagerDuty's shape; `routing_key` is an Aegis token."""
        if not isinstance(request.data, Mapping):
            raise Problem("invalid-input", "The event is an object.")
        body = {name: value for name, value in request.data.items() if name != "routing_key"}
        if body.get("event_action") not in _PAGERDUTY_ACTIONS:
            actions = ", ".join(sorted(_PAGERDUTY_ACTIONS))
            errors = [{"detail": f"One of {actions}.", "pointer": "#/event_action"}]
            raise Problem("invalid-input", "The event has no known action.", errors=errors)
        body["dedup_key"] = str(body.get("dedup_key") or uuid.uuid4().hex)
        message = services.receive(actor=self.actor, inbox=_inbox(_PAGERDUTY), body=body)
        answer = {"status": "success", "message": message.pk, "dedup_key": body["dedup_key"]}
        return Response(answer, status=202)


def _inbox(name: str) -> Inbox:
    found = services.inbox_named(name)
    if found is None:
        raise Http404(f"There is no inbox {name}.")
    return found


def _with_headers(request: Request, body: Any) -> Any:
    """A CloudEvent in binary mode as the structured one that it stands for."""
    if "ce-type" not in request.headers:
        return body
    sent = {
        name: request.headers[f"ce-{name}"]
        for name in _CE_HEADERS
        if f"ce-{name}" in request.headers
    }
    return {**sent, "data": body}
