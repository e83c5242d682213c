"""Endpoints that are told what happens, and the messages on their way there."""

from datetime import timedelta
from typing import Any

from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.api.serializers.destinations import DestinationSerializer
from incidents.api.serializers.fields import InstantField, NamedField
from incidents.choices import DeliveryState, SubscriptionState
from incidents.models import Cluster, WebhookAttempt, WebhookDelivery, WebhookSubscription

_MOST_PATTERNS = 100
#: What a person may set; an endpoint disables itself by answering 410.
SETTABLE = [(one.value, one.label) for one in (SubscriptionState.ACTIVE, SubscriptionState.PAUSED)]


class PatternsField(serializers.ListField):
    """Verbs such as `incident.opened`, or patterns such as `incident.*`."""

    child = serializers.CharField(max_length=64)


class WebhookSerializer(serializers.ModelSerializer[WebhookSubscription]):
    """An endpoint. Its secret is shown when it is made or rotated, and never again."""

    events = PatternsField(help_text="Verbs or patterns; empty for every event.")
    cluster = serializers.CharField(source="cluster.name", allow_null=True, default=None)
    created_at = InstantField()
    failing_since = InstantField(allow_null=True)
    retry_at = InstantField(allow_null=True, help_text="When the oldest message is tried again.")
    previous_until = InstantField(
        allow_null=True, help_text="Until when the earlier secret signs as well."
    )
    waiting = serializers.IntegerField(source="waiting_count", help_text="Messages that wait.")

    class Meta:
        model = WebhookSubscription
        fields = [
            "id",
            "name",
            "url",
            "events",
            "cluster",
            "state",
            "state_reason",
            "version",
            "waiting",
            "failing_since",
            "failure_count",
            "retry_at",
            "previous_until",
            "created_by",
            "created_at",
        ]


class WebhookWithSecretSerializer(WebhookSerializer):
    """An endpoint with its new secret, which is shown this once."""

    secret = serializers.CharField(
        allow_null=True, help_text="Null where an answer is replayed: it is kept nowhere."
    )

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]


class _EndpointFields(DestinationSerializer):
    """What can be said of an endpoint."""

    name = serializers.CharField(max_length=100, required=False)
    url = serializers.CharField(max_length=500, required=False)
    events = serializers.ListField(
        child=serializers.CharField(max_length=64), required=False, max_length=_MOST_PATTERNS
    )
    cluster = NamedField(
        slug_field="name",
        queryset=Cluster.objects,
        required=False,
        allow_null=True,
        help_text="Only what happens in this cluster; null for all.",
    )


class WebhookRequestSerializer(_EndpointFields):
    """A new endpoint."""

    name = serializers.CharField(max_length=100)
    url = serializers.CharField(max_length=500)


class WebhookChangeSerializer(_EndpointFields):
    """A change of an endpoint."""

    state = serializers.ChoiceField(
        choices=SETTABLE,
        required=False,
        help_text="active sends what waits, and starts anew after a 410.",
    )

    def validate(self, attrs: Any) -> Any:
        if not attrs:
            raise serializers.ValidationError("Give what is to change.")
        return attrs


class RotationSerializer(RequestSerializer):
    """How long the present secret signs beside the new one."""

    overlap_hours = serializers.IntegerField(min_value=0, max_value=24 * 30, default=24)

    def validate(self, attrs: Any) -> Any:
        return {"overlap": timedelta(hours=attrs["overlap_hours"])}


class WebhookAttemptSerializer(serializers.ModelSerializer[WebhookAttempt]):
    """One try."""

    at = InstantField()

    class Meta:
        model = WebhookAttempt
        fields = ["number", "at", "duration_ms", "address", "status", "answer", "error"]


class DeliverySerializer(serializers.ModelSerializer[WebhookDelivery]):
    """One message for one endpoint."""

    webhook = serializers.IntegerField(source="subscription_id")
    event = serializers.IntegerField(source="event_id", allow_null=True)
    replay_of = serializers.IntegerField(source="replay_of_id", allow_null=True)
    created_at = InstantField()
    ended_at = InstantField(allow_null=True)

    class Meta:
        model = WebhookDelivery
        fields = [
            "id",
            "webhook",
            "event",
            "verb",
            "message_id",
            "is_test",
            "replay_of",
            "state",
            "reason",
            "attempt_count",
            "created_at",
            "ended_at",
        ]


class DeliveryInFullSerializer(DeliverySerializer):
    """A message with exactly what was sent, and every try with its answer."""

    attempts = WebhookAttemptSerializer(many=True)

    class Meta(DeliverySerializer.Meta):
        fields = [*DeliverySerializer.Meta.fields, "body", "attempts"]


class ReplayRequestSerializer(RequestSerializer):
    """Which ended messages are sent again."""

    state = serializers.ChoiceField(
        choices=[(DeliveryState.GIVEN_UP.value, "given up"), (DeliveryState.DELIVERED.value, "")],
        default=DeliveryState.GIVEN_UP.value,
    )
    since = InstantField(required=False, help_text="Only messages from this time on.")
    until = InstantField(required=False, help_text="Only messages up to this time.")


class ReplayedSerializer(serializers.Serializer[Any]):
    """What was put in the queue."""

    deliveries = serializers.ListField(child=serializers.IntegerField())
