"""Reports: figures over time, by fault, by rule."""

from typing import Any

from rest_framework import serializers

from incidents.choices import RuleKind


class PrecisionSerializer(serializers.Serializer[Any]):
    """How often something was right, of what was decided."""

    precision = serializers.FloatField(allow_null=True, help_text="Null where nothing was decided.")
    precision_at_least = serializers.FloatField(
        allow_null=True, help_text="The lower end of Wilson's 95 % interval."
    )
    right = serializers.IntegerField()
    decided = serializers.IntegerField()
    confirmed = serializers.IntegerField(
        help_text="Of these, how many the job or repair has borne out or refuted."
    )


class FiguresSerializer(PrecisionSerializer):
    """The figures of some incidents; medians are null where no incident tells."""

    incidents = serializers.IntegerField()
    diagnosis_seconds_median = serializers.FloatField(
        allow_null=True, help_text="Lost to diagnosis: from the stop to the first decision."
    )
    diagnosis_hours = serializers.FloatField(help_text="The same, summed.")
    located_share = serializers.FloatField(allow_null=True)
    top1 = serializers.FloatField(allow_null=True)
    top3 = serializers.FloatField(allow_null=True)
    detect_seconds_median = serializers.FloatField(allow_null=True)
    acknowledge_seconds_median = serializers.FloatField(allow_null=True)
    resolve_seconds_median = serializers.FloatField(allow_null=True)
    gpu_hours_lost = serializers.FloatField()


class ReportStepSerializer(FiguresSerializer):
    """The figures of one step; days in UTC, `until` not included."""

    since = serializers.DateField()
    until = serializers.DateField()
    restarts = serializers.IntegerField()
    hosts_held = serializers.IntegerField()
    degradation = serializers.FloatField(
        allow_null=True, help_text="Accumulated degradation; null where nothing was watched."
    )


class OverTimeSerializer(serializers.Serializer[Any]):
    """The figures of a period, of the one of the same length before it, and of each step."""

    total = ReportStepSerializer()
    before = ReportStepSerializer()
    steps = ReportStepSerializer(many=True)


class FaultFiguresSerializer(FiguresSerializer):
    """The figures of incidents whose answer names this fault first; empty where none is named."""

    fault = serializers.CharField(allow_blank=True)


class RuleRecordSerializer(PrecisionSerializer):
    """One rule that spoke for suspects that were decided on, and how often it was right."""

    kind = serializers.ChoiceField(choices=RuleKind.choices)
    code = serializers.CharField()
