"""Merging, splitting, snoozing, and steps on several incidents at once."""

from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.api.serializers.fields import HostNameField, InstantField, NamedField
from incidents.choices import BatchStep, Resolution
from incidents.models import Batch, Evidence, Incident, User
from incidents.services.batches import MOST

MAX_FILES = 4096


class MergeRequestSerializer(RequestSerializer):
    """Which incident it becomes part of; of one that was merged itself, the one that stands."""

    into = serializers.PrimaryKeyRelatedField(queryset=Incident.objects, help_text="Incident's id.")


class SplitRequestSerializer(RequestSerializer):
    """What becomes an incident of its own."""

    title = serializers.CharField(max_length=300)
    evidence = serializers.PrimaryKeyRelatedField(
        queryset=Evidence.objects, many=True, required=False
    )
    hosts = serializers.ListField(child=HostNameField(), required=False, max_length=MAX_FILES)


class SnoozeRequestSerializer(RequestSerializer):
    """Until when; without a time, until something new arrives."""

    until = InstantField(required=False, allow_null=True)


class BatchRequestSerializer(RequestSerializer):
    """One step on several incidents; of the rest only what the step needs is taken."""

    incidents = serializers.PrimaryKeyRelatedField(
        queryset=Incident.objects, many=True, allow_empty=False
    )
    step = serializers.ChoiceField(choices=BatchStep.choices)
    assignee = NamedField(
        slug_field="username",
        queryset=User.objects.filter(is_active=True),
        required=False,
        allow_null=True,
        help_text="For `assign`: a user name; null for nobody.",
    )
    resolution = serializers.ChoiceField(
        choices=Resolution.choices, required=False, help_text="For `resolve`."
    )
    note = serializers.CharField(
        required=False, allow_blank=True, max_length=10_000, help_text="For `resolve`."
    )
    until = InstantField(required=False, allow_null=True, help_text="For `snooze`.")
    into = serializers.PrimaryKeyRelatedField(
        queryset=Incident.objects, required=False, help_text="For `merge`: incident's id."
    )

    def validate_incidents(self, incidents: list[Incident]) -> list[Incident]:
        """Refuses more than one step takes."""
        if len(incidents) > MOST:
            raise serializers.ValidationError(f"At most {MOST} incidents at once.")
        return incidents


class BatchSerializer(serializers.ModelSerializer[Batch]):
    """What was done, to which incidents, and why some refused. It can be undone."""

    made_at = InstantField()
    undone_at = InstantField(allow_null=True)
    incidents = serializers.ListField(child=serializers.IntegerField())
    refused = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Batch
        fields = [
            "id",
            "step",
            "actor",
            "made_at",
            "undone_at",
            "undone_by",
            "incidents",
            "refused",
        ]
