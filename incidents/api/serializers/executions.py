"""Commands that carry decisions out."""

from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.api.serializers.fields import InstantField
from incidents.models import Execution


class ExecutionSerializer(serializers.ModelSerializer[Execution]):
    """A planned command, and how it ended once someone had it run."""

    incident = serializers.IntegerField(source="recommendation.diagnosis.incident_id")
    recommendation = serializers.IntegerField(source="recommendation_id")
    decision = serializers.IntegerField(source="decision_id")
    argv = serializers.ListField(
        child=serializers.CharField(), help_text="Exactly what runs; no shell reads it."
    )
    planned_at = InstantField()
    asked_at = InstantField(allow_null=True)
    started_at = InstantField(allow_null=True)
    ended_at = InstantField(allow_null=True)
    exit_code = serializers.IntegerField(allow_null=True)

    class Meta:
        model = Execution
        fields = ["id", "incident", "recommendation", "decision", "scheduler", "host", "argv"]
        fields += ["state", "planned_by", "planned_at", "asked_by", "asked_at", "started_at"]
        fields += ["ended_at", "exit_code", "output", "reason"]


class RunSerializer(RequestSerializer):
    """The second word, where more hosts go out than the limit allows."""

    confirm = serializers.BooleanField(required=False, default=False)
