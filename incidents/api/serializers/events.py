"""The timeline."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from incidents.api.serializers.fields import InstantField
from incidents.models import Event


class EventSerializer(serializers.ModelSerializer[Event]):
    """One thing that happened; events are never changed or removed."""

    time = InstantField()
    incident = serializers.IntegerField(source="incident_id", allow_null=True)
    job = serializers.IntegerField(source="job_id", allow_null=True)
    host = serializers.CharField(source="host.name", allow_null=True, default=None)

    class Meta:
        model = Event
        fields = [
            "id",
            "time",
            "verb",
            "text",
            "actor",
            "source",
            "incident",
            "job",
            "host",
            "data",
        ]


@extend_schema_serializer(many=False)
class FeedSerializer(serializers.Serializer[object]):
    """A stretch of the feed. Ask again with `since` from here."""

    results = EventSerializer(many=True)
    since = serializers.IntegerField(help_text="Pass it on as `since`.")
    has_more = serializers.BooleanField(help_text="More is waiting: ask again at once.")
