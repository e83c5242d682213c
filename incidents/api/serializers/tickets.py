"""Tickets and saved views."""

from typing import Any

from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.api.serializers.fields import InstantField
from incidents.models import SavedView, TicketLink


class TicketSerializer(serializers.ModelSerializer[TicketLink]):
    """A ticket about an incident in another system."""

    incident = serializers.IntegerField(source="incident_id")
    linked_at = InstantField()
    connector = serializers.CharField(
        source="connector.name",
        allow_null=True,
        default=None,
        help_text="The ticket system that keeps it in step, if one does.",
    )
    key = serializers.CharField(allow_blank=True, help_text="Empty until it is opened.")
    status = serializers.CharField(allow_blank=True, help_text="In the ticket system's words.")
    status_at = InstantField(allow_null=True)
    error = serializers.CharField(allow_blank=True, help_text="Why it is not opened yet, or not.")

    class Meta:
        model = TicketLink
        fields = ["id", "incident", "system", "key", "url", "linked_by", "linked_at"]
        fields += ["connector", "state", "status", "status_at", "error"]


class TicketRequestSerializer(RequestSerializer):
    """A ticket to link by its `key`, or a `connector` by name that is to open one."""

    key = serializers.CharField(max_length=200, required=False)
    system = serializers.CharField(max_length=50, required=False)
    url = serializers.URLField(max_length=1000, required=False)
    connector = serializers.CharField(
        max_length=100,
        required=False,
        help_text="Opens a ticket there; then nothing else is given.",
    )

    def validate(self, attrs: Any) -> Any:
        """Refuses both at once, and neither."""
        if "connector" in attrs and len(attrs) > 1:
            raise serializers.ValidationError({"connector": ["It is given alone."]})
        if "connector" not in attrs and "key" not in attrs:
            raise serializers.ValidationError({"key": ["Give a key or a connector."]})
        return attrs


class SavedViewSerializer(serializers.ModelSerializer[SavedView]):
    """Filters of the desk under a name; `query` goes onto `/?` and `/api/v1/incidents?`."""

    owner = serializers.CharField(source="owner.username")
    created_at = InstantField()
    updated_at = InstantField()

    class Meta:
        model = SavedView
        fields = ["id", "name", "owner", "query", "shared", "created_at", "updated_at"]


class SavedViewRequestSerializer(RequestSerializer):
    """A view to keep; one's own view of that name is replaced."""

    name = serializers.CharField(max_length=60)
    query = serializers.CharField(max_length=1000, required=False, allow_blank=True)
    shared = serializers.BooleanField(required=False)
