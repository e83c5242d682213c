"""The webhooks section of the OpenAPI document: what endpoints receive."""

from typing import Any

from drf_spectacular.utils import (
    OpenApiResponse,
    OpenApiWebhook,
    extend_schema,
)
from rest_framework import serializers

_HEADERS = {
    "webhook-id": "The same for every try of one message.",
    "webhook-timestamp": "Seconds since 1970, UTC.",
    "webhook-signature": "`v1,` and HMAC-SHA256 in base64; two while a secret rotates.",
}
_EXAMPLE = {
    "type": "recommendation.accepted",
    "timestamp": "2026-11-30T06:41:12.481516+00:00",
    "data": {
        "event": 4811,
        "text": "Accepted: Isolate host: node-017",
        "actor": "alice",
        "incident": 12,
        "reference": "INC-12",
        "status": "acknowledged",
        "url": "https://aegis.example/incidents/12",
        "api_url": "https://aegis.example/api/v1/incidents/12",
        "host": "node-017",
        "action": "isolate-host",
        "target": "node-017",
        "commands": {
            "slurm": "scontrol update nodename=node-017 state=drain reason=INC-12",
            "kubernetes": "kubectl cordon -- node-017",
        },
    },
}
_ANSWERS = {
    "2XX": OpenApiResponse(description="Taken. Answer within 15 seconds."),
    "410": OpenApiResponse(description="Send nothing more: the endpoint is disabled."),
    "default": OpenApiResponse(
        description="Tried again for three days; `Retry-After` is kept to. No redirects."
    ),
}


class MessageDataSerializer(serializers.Serializer[Any]):
    """Which records an event is about, and where they are read."""

    event = serializers.IntegerField(help_text="Its id in the feed of events.")
    text = serializers.CharField(help_text="For a person.")
    actor = serializers.CharField()
    incident = serializers.IntegerField(required=False)
    reference = serializers.CharField(required=False)
    status = serializers.CharField(required=False)
    url = serializers.CharField(required=False, help_text="The incident's page.")
    api_url = serializers.CharField(required=False, help_text="The incident over REST.")
    job = serializers.DictField(required=False)
    host = serializers.CharField(required=False)
    action = serializers.CharField(required=False, help_text="Only of decisions.")
    target = serializers.CharField(required=False, help_text="Only of decisions.")
    commands = serializers.DictField(
        child=serializers.CharField(), required=False, help_text="By scheduler; only of decisions."
    )


class MessageSerializer(serializers.Serializer[Any]):
    """One message."""

    type = serializers.CharField(help_text="The event's verb.")
    timestamp = serializers.DateTimeField()
    data = MessageDataSerializer()  # type: ignore[assignment]


EVENT = OpenApiWebhook(
    name="event",
    decorator=extend_schema(
        summary="Something happened",
        description=(
            "Sent in order, at least once, for each event that the webhook wants. "
            "`incident.*`, `diagnosis.*`, `recommendation.*`, `attempt.*`, … as in the feed."
        ),
        tags=["webhooks"],
        request=MessageSerializer,
        responses=_ANSWERS,
    ),
)


def headers_of_messages(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:
    """Adds what drf-spectacular leaves out of webhooks: headers and an example."""
    for methods in result.get("webhooks", {}).values():
        operation = methods["post"]
        operation["parameters"] = [
            {"name": name, "in": "header", "required": True, "description": text,
             "schema": {"type": "string"}}
            for name, text in _HEADERS.items()
        ]  # fmt: skip
        operation["requestBody"]["content"]["application/json"]["example"] = _EXAMPLE
    return result
