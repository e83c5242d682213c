"""Evidence, and what goes with an upload."""

from typing import Any

from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.api.serializers.diagnoses import DiagnosisBriefSerializer
from incidents.api.serializers.fields import InstantField
from incidents.choices import EvidenceKind
from incidents.models import Evidence

MAX_RANK = 2**31 - 1


class EvidenceSerializer(serializers.ModelSerializer[Evidence]):
    """One file of an incident: what it is, whose it is, and whether it could be read."""

    incident = serializers.IntegerField(source="incident_id")
    host = serializers.CharField(
        source="from_host", help_text="As the uploader said, else as reading told."
    )
    rank = serializers.IntegerField(
        source="from_rank",
        allow_null=True,
        help_text="As the uploader said, else as reading told.",
    )
    job = serializers.CharField(source="job_label")
    size = serializers.IntegerField(source="blob.size", help_text="Bytes, as handed in.")
    sha256 = serializers.CharField(source="blob.sha256")
    began_at = InstantField(allow_null=True)
    ended_at = InstantField(allow_null=True)
    uploaded_at = InstantField()
    set_aside_at = InstantField(
        allow_null=True, help_text="Since when no diagnosis uses it; null while in use."
    )
    purged_at = InstantField(
        source="blob.purged_at", allow_null=True, help_text="When its bytes were deleted for good."
    )

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
            "set_aside_at",
            "set_aside_by",
            "set_aside_reason",
            "purged_at",
        ]


class OriginSerializer(RequestSerializer):
    """What the uploader knows about the files; what is left out is told by content or name."""

    name = serializers.CharField(
        max_length=500, required=False, default="", help_text="What the one file is called."
    )
    host = serializers.CharField(
        max_length=255, required=False, default="", help_text="Which host it speaks for."
    )
    rank = serializers.IntegerField(
        min_value=0, max_value=MAX_RANK, required=False, help_text="Which rank it speaks for."
    )
    job = serializers.CharField(
        max_length=200, required=False, default="", help_text="The job's id, as evidence has it."
    )
    kind = serializers.ChoiceField(
        choices=EvidenceKind.choices, required=False, help_text="Told by content where left out."
    )
    diagnose = serializers.BooleanField(
        required=False, default=True, help_text="False where more files will follow."
    )

    def validate_kind(self, value: Any) -> EvidenceKind:
        return EvidenceKind(value)


class UseSerializer(RequestSerializer):
    """Whether diagnoses leave a file out."""

    set_aside = serializers.BooleanField()
    reason = serializers.CharField(
        required=False, default="", max_length=4000, help_text="Needed to set it aside."
    )

    def validate(self, attrs: Any) -> Any:
        """Refuses setting aside without a reason."""
        if attrs["set_aside"] and not attrs["reason"].strip():
            raise serializers.ValidationError({"reason": ["Say why, so that others can follow."]})
        return attrs


class FilesSerializer(serializers.Serializer[Any]):
    """Any number of files; the parameters may stand in the form as well."""

    file = serializers.ListField(child=serializers.FileField())


class UploadedSerializer(serializers.Serializer[Any]):
    """The files as they are known now, and the run that will judge them."""

    evidence = EvidenceSerializer(many=True)
    diagnosis = DiagnosisBriefSerializer(
        allow_null=True, help_text="Null where none was asked for and none is known."
    )
