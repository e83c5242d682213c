"""Evidence, and what goes with an upload."""

from typing import Any

from rest_framework import serializers

from incidents.api.serializers.fields import InstantField
from incidents.choices import EvidenceKind
from incidents.models import Evidence

MAX_RANK = 2**31 - 1


class EvidenceSerializer(serializers.ModelSerializer[Evidence]):
    """One file of an incident: what it is, whose it is, and whether it could be read."""

    incident = serializers.IntegerField(source="incident_id")
    job = serializers.CharField(source="job_label")
    size = serializers.IntegerField(source="blob.size", help_text="Bytes, as handed in.")
    sha256 = serializers.CharField(source="blob.sha256")
    began_at = InstantField(allow_null=True)
    ended_at = InstantField(allow_null=True)
    uploaded_at = InstantField()

    class Meta:
        model = Evidence
        fields = [
            "id",
            "incident",
            "name",
            "kind",
            "host",
            "rank",
            "job",
            "size",
            "sha256",
            "began_at",
            "ended_at",
            "parse_status",
            "parse_reason",
            "uploaded_by",
            "source",
            "uploaded_at",
        ]


class OriginSerializer(serializers.Serializer[Any]):
    """What the uploader knows about the files; what is left out is told by content or name."""

    name = serializers.CharField(max_length=500, required=False)
    host = serializers.CharField(max_length=255, required=False, default="")
    rank = serializers.IntegerField(
        min_value=0, max_value=MAX_RANK, required=False, allow_null=True, default=None
    )
    job = serializers.CharField(max_length=200, required=False, default="")
    kind = serializers.ChoiceField(
        choices=EvidenceKind.choices, required=False, allow_null=True, default=None
    )
    diagnose = serializers.BooleanField(required=False, default=True)

    def validate_kind(self, value: Any) -> EvidenceKind | None:
        return EvidenceKind(value) if value else None
