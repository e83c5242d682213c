"""Inboxes, and what came into them."""

from typing import Any

from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.api.serializers.fields import InstantField, NamedField
from incidents.choices import AlertAction, InboxKind, IncidentKind, MessageState, Severity
from incidents.models import Cluster, Inbox, InboxMessage


class ReceivedSerializer(serializers.Serializer[Any]):
    """The message is stored; what comes of it is told by its incident."""

    status = serializers.CharField(help_text="success")
    message = serializers.IntegerField(help_text="Its number, for `GET /inboxes/{id}/messages`.")
    dedup_key = serializers.CharField(required=False, help_text="Only of PagerDuty events.")


class InboxSerializer(serializers.ModelSerializer[Inbox]):
    """A door for alerts, at `/api/v1/inbox/<name>`."""

    cluster = serializers.CharField(source="cluster.name", allow_null=True, default=None)
    mapping = serializers.DictField(
        child=serializers.CharField(), help_text="JMESPath by field; empty: the kind's own."
    )
    waiting = serializers.IntegerField(source="waiting_count")
    refused = serializers.IntegerField(source="refused_count")

    class Meta:
        model = Inbox
        fields = ["id", "name", "kind", "cluster", "mapping", "enabled", "version"]
        fields += ["waiting", "refused"]


class InboxRequestSerializer(RequestSerializer):
    """A new inbox."""

    name = serializers.RegexField(r"^[a-z0-9][a-z0-9-]*\Z", max_length=50)
    kind = serializers.ChoiceField(choices=InboxKind.choices, default=InboxKind.GENERIC)
    cluster = NamedField(
        slug_field="name", queryset=Cluster.objects, required=False, allow_null=True
    )
    mapping = serializers.DictField(child=serializers.CharField(), required=False)


class InboxChangeSerializer(RequestSerializer):
    """A change of an inbox."""

    cluster = NamedField(
        slug_field="name", queryset=Cluster.objects, required=False, allow_null=True
    )
    mapping = serializers.DictField(child=serializers.CharField(), required=False)
    enabled = serializers.BooleanField(required=False)


class TrialSerializer(RequestSerializer):
    """A message to read, with the inbox's mapping or with another one; nothing comes of it."""

    sample = serializers.JSONField()
    mapping = serializers.DictField(child=serializers.CharField(), required=False)


class AlertDataSerializer(serializers.Serializer[Any]):
    """One alert as it would be understood."""

    key = serializers.CharField()
    action = serializers.ChoiceField(choices=AlertAction.choices)
    title = serializers.CharField()
    severity = serializers.ChoiceField(choices=Severity.choices)
    kind = serializers.ChoiceField(choices=IncidentKind.choices)
    hosts = serializers.ListField(child=serializers.CharField())
    known_hosts = serializers.ListField(child=serializers.CharField())
    job = serializers.CharField()
    cluster = serializers.CharField()
    started_at = InstantField(allow_null=True)
    ended_at = InstantField(allow_null=True)


class TrialResultSerializer(serializers.Serializer[Any]):
    """What a message would be read as."""

    alerts = AlertDataSerializer(many=True)


class InboxMessageSerializer(serializers.ModelSerializer[InboxMessage]):
    """A message as it came."""

    received_at = InstantField()
    state = serializers.ChoiceField(choices=MessageState.choices)
    body = serializers.JSONField()

    class Meta:
        model = InboxMessage
        fields = ["id", "received_at", "actor", "state", "alert_count", "error", "body"]
