"""Ticket systems as they are set up."""

from typing import Any

from rest_framework import serializers

from incidents.api.serializers.destinations import DestinationSerializer
from incidents.api.serializers.fields import InstantField, NamedField
from incidents.api.serializers.webhooks import SETTABLE
from incidents.choices import ConnectorKind
from incidents.models import Cluster, TicketConnector


class ConnectorSerializer(serializers.ModelSerializer[TicketConnector]):
    """A ticket system in which Aegis opens tickets. Its secret is never shown."""

    cluster = serializers.CharField(source="cluster.name", allow_null=True, default=None)
    events = serializers.ListField(child=serializers.CharField())
    options = serializers.DictField()
    created_at = InstantField()
    failing_since = InstantField(allow_null=True)
    retry_at = InstantField(allow_null=True, help_text="When the oldest message is tried again.")
    asked_at = InstantField(allow_null=True, help_text="When it was last asked for its tickets.")
    waiting = serializers.IntegerField(source="waiting_count", help_text="Messages that wait.")

    class Meta:
        model = TicketConnector
        fields = ["id", "name", "kind", "url", "account", "cluster", "state", "events", "options"]
        fields += ["title_template", "text_template", "version", "waiting", "failing_since"]
        fields += ["failure_count", "retry_at", "asked_at", "asking_failed"]
        fields += ["created_by", "created_at"]


class _ConnectorFields(DestinationSerializer):
    """What can be said of a ticket system."""

    name = serializers.CharField(max_length=100, required=False)
    url = serializers.CharField(max_length=500, required=False, help_text="Its base address.")
    account = serializers.CharField(
        max_length=200,
        required=False,
        allow_blank=True,
        help_text="With it the secret is a password (Basic), without it a bearer token.",
    )
    secret = serializers.CharField(
        max_length=2000, required=False, write_only=True, help_text="Kept sealed, never shown."
    )
    cluster = NamedField(
        slug_field="name",
        queryset=Cluster.objects,
        required=False,
        allow_null=True,
        help_text="Only for incidents of this cluster; null for all.",
    )
    events = serializers.ListField(
        child=serializers.CharField(max_length=64),
        required=False,
        max_length=100,
        help_text="What its tickets are told; empty for everything.",
    )
    options = serializers.DictField(required=False, help_text="See the guide of the kind.")
    title_template = serializers.CharField(max_length=300, required=False, allow_blank=True)
    text_template = serializers.CharField(max_length=20_000, required=False, allow_blank=True)


class ConnectorRequestSerializer(_ConnectorFields):
    """A new ticket system."""

    kind = serializers.ChoiceField(choices=ConnectorKind.choices)
    name = serializers.CharField(max_length=100)
    url = serializers.CharField(max_length=500, help_text="Its base address.")
    secret = serializers.CharField(
        max_length=2000, write_only=True, help_text="Kept sealed, never shown."
    )


class ConnectorChangeSerializer(_ConnectorFields):
    """A change of a ticket system; what waits is tried again at once."""

    state = serializers.ChoiceField(choices=SETTABLE, required=False)

    def validate(self, attrs: Any) -> Any:
        if not attrs:
            raise serializers.ValidationError("Give what is to change.")
        return attrs
