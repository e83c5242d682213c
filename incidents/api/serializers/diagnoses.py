"""Diagnoses in the contract's shape, with the ids that the records add."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from incidents.api.serializers.fields import GpuField, InstantField, WithClass
from incidents.choices import DiagnosisState, IncidentKind, TargetKind
from incidents.commands import commands_for
from incidents.models import Diagnosis, Finding, Recommendation, Suspect, TargetFields


class TargetSerializer(serializers.Serializer[Any]):
    """What a finding, suspect or recommendation is about."""

    kind = serializers.ChoiceField(choices=TargetKind.choices)
    name = serializers.CharField(allow_null=True)
    host = serializers.CharField(allow_null=True)
    gpu = GpuField(allow_null=True)
    nic = serializers.CharField(allow_null=True)
    rank = serializers.IntegerField(allow_null=True)
    peer = serializers.CharField(required=False, help_text="A link's other end.")


class VerdictSerializer(WithClass):
    """What happened and why, in one sentence, with how sure that is and what it rests on."""

    kind = serializers.ChoiceField(choices=IncidentKind.choices)
    summary = serializers.CharField()
    confidence = serializers.FloatField(min_value=0, max_value=1)
    coverage = serializers.DictField()


class FindingSerializer(serializers.ModelSerializer[Finding]):
    """One statement derived from evidence; a negative weight speaks against the target."""

    target = serializers.SerializerMethodField()
    time = serializers.SerializerMethodField()
    evidence = serializers.SerializerMethodField(help_text="The file's name.")
    evidence_id = serializers.IntegerField(allow_null=True)

    class Meta:
        model = Finding
        fields = [
            "id",
            "detector",
            "target",
            "text",
            "time",
            "evidence",
            "evidence_id",
            "locator",
            "weight",
        ]

    @extend_schema_field(TargetSerializer)
    def get_target(self, finding: Finding) -> dict[str, object]:
        return finding.target

    def get_time(self, finding: Finding) -> str | None:
        """The instant where the zone is known, else the time as the evidence gave it."""
        if finding.at is not None:
            return str(InstantField().to_representation(finding.at))
        return finding.time_text or None

    def get_evidence(self, finding: Finding) -> str | None:
        return finding.evidence_name or None


class _OfDiagnosis(serializers.ModelSerializer[Any]):
    """Where a suspect or recommendation belongs; left out inside its diagnosis."""

    target = serializers.SerializerMethodField()

    @extend_schema_field(TargetSerializer)
    def get_target(self, record: TargetFields) -> dict[str, object]:
        return record.target


class SuspectSerializer(_OfDiagnosis):
    """A target with the probability that it is the cause."""

    fault = serializers.SerializerMethodField(help_text="The fault type's code.")
    findings = FindingSerializer(many=True)

    class Meta:
        model = Suspect
        fields = ["id", "target", "score", "role", "fault", "findings"]

    def get_fault(self, suspect: Suspect) -> str | None:
        return suspect.fault or None


class SuspectInListSerializer(SuspectSerializer):
    """A suspect outside its diagnosis."""

    incident = serializers.IntegerField(source="diagnosis.incident_id")
    diagnosis = serializers.IntegerField(source="diagnosis_id")

    class Meta(SuspectSerializer.Meta):
        fields = ["id", "incident", "diagnosis", "position", *SuspectSerializer.Meta.fields[1:]]


class RecommendationSerializer(_OfDiagnosis):
    """An action on a target that a person accepts, rejects or changes.

    `commands` is what carries it out, by scheduler, as text.
    """

    commands = serializers.SerializerMethodField()
    decision = serializers.SerializerMethodField(help_text="What stands, if anyone decided.")

    class Meta:
        model = Recommendation
        fields = ["id", "action", "target", "reason", "commands", "decision"]

    def get_commands(self, item: Recommendation) -> dict[str, str]:
        reference = f"INC-{item.diagnosis.incident_id}"
        return dict(commands_for(item.action, host=item.target_host, reference=reference))

    @extend_schema_field({"type": ["string", "null"], "enum": ["accept", "reject", "change", None]})
    def get_decision(self, item: Recommendation) -> str | None:
        return next((one.kind for one in item.decisions.all() if one.standing), None)


class RecommendationInListSerializer(RecommendationSerializer):
    """A recommendation outside its diagnosis."""

    incident = serializers.IntegerField(source="diagnosis.incident_id")
    diagnosis = serializers.IntegerField(source="diagnosis_id")

    class Meta(RecommendationSerializer.Meta):
        fields = [
            "id",
            "incident",
            "diagnosis",
            "position",
            *RecommendationSerializer.Meta.fields[1:],
        ]


class DiagnosisBriefSerializer(serializers.ModelSerializer[Diagnosis]):
    """One run, without its proof. `verdict` is null until it is done."""

    incident = serializers.IntegerField(source="incident_id")
    verdict = serializers.SerializerMethodField()
    queued_at = InstantField()
    started_at = InstantField(allow_null=True)
    finished_at = InstantField(allow_null=True)

    class Meta:
        model = Diagnosis
        fields = [
            "id",
            "incident",
            "number",
            "state",
            "error",
            "requested_by",
            "queued_at",
            "started_at",
            "finished_at",
            "duration_s",
            "engine_version",
            "taxonomy_version",
            "verdict",
        ]

    @extend_schema_field(VerdictSerializer(allow_null=True))
    def get_verdict(self, run: Diagnosis) -> dict[str, Any] | None:
        if run.state != DiagnosisState.DONE:
            return None
        return dict(VerdictSerializer(run).data)


class SkippedSerializer(serializers.Serializer[Any]):
    """A file that could not be used, and why."""

    file = serializers.CharField()
    reason = serializers.CharField()


class EvidenceIdsField(serializers.ListField):
    """Keys of files."""

    child = serializers.IntegerField()

    def to_representation(self, data: Any) -> list[int]:
        return [evidence.pk for evidence in data.all()]


class DiagnosisSerializer(DiagnosisBriefSerializer):
    """One run in full: once it is done, the contract's diagnosis object with ids."""

    suspects = SuspectSerializer(many=True)
    recommendations = RecommendationSerializer(many=True)
    trace = serializers.ListField(child=serializers.CharField())
    skipped = SkippedSerializer(many=True)
    evidence = EvidenceIdsField(help_text="The files that this run judged, by id.")

    class Meta(DiagnosisBriefSerializer.Meta):
        fields = [
            *DiagnosisBriefSerializer.Meta.fields,
            "suspects",
            "recommendations",
            "trace",
            "skipped",
            "evidence",
        ]
