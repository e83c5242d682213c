"""Fault types, signatures and versions of the taxonomy."""

from typing import Any

from rest_framework import serializers

from diagnosis.core.words import SignatureClass
from diagnosis.models import FaultType, Signature, TaxonomyVersion
from incidents.api.serializers.fields import InstantField

CLASSES = [(word.value, word.value) for word in SignatureClass]


class FaultTypeSerializer(serializers.ModelSerializer[FaultType]):
    """A fault by its code: what it is, how bad, and what to do about it."""

    class Meta:
        model = FaultType
        fields = [
            "code",
            "title",
            "component",
            "severity",
            "action",
            "explanation",
            "runbook",
            "shipped",
            "edited",
        ]

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Adds `class`, which Python does not take as a name."""
        cause = serializers.ChoiceField(choices=CLASSES, source="fault_class")
        return {**super().get_fields(), "class": cause}


class SignatureSerializer(serializers.ModelSerializer[Signature]):
    """A pattern (RE2, searched within one line) that tells a fault type from a log."""

    fault_type = serializers.CharField(source="fault_type.code")

    class Meta:
        model = Signature
        fields = [
            "code",
            "fault_type",
            "pattern",
            "stream",
            "implicates",
            "priority",
            "follow_on",
            "enabled",
            "examples",
            "source",
            "provenance",
            "escalates",
            "escalation_idea",
            "shipped",
            "edited",
        ]


class TaxonomyVersionSerializer(serializers.ModelSerializer[TaxonomyVersion]):
    """The rules as they were after one change; `version` is what diagnoses record."""

    created_at = InstantField()

    class Meta:
        model = TaxonomyVersion
        fields = ["id", "version", "created_at", "who", "why"]


class TaxonomySerializer(serializers.Serializer[Any]):
    """The rules that the next diagnosis will use."""

    version = serializers.CharField(help_text="A hash of the rules; diagnoses record it.")
    fault_type_count = serializers.IntegerField()
    signature_count = serializers.IntegerField()
    enabled_signature_count = serializers.IntegerField()


class TaxonomyVersionInFullSerializer(TaxonomyVersionSerializer):
    """One version with all its rows, in the form of the shipped `default.yaml`."""

    class Meta(TaxonomyVersionSerializer.Meta):
        fields = [
            *TaxonomyVersionSerializer.Meta.fields,
            "rows",
            "overrides",
            "ignore_rules",
            "maintenance",
        ]
