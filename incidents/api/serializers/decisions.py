"""Decisions about recommendations, and their outcome."""

from typing import Any

from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.api.serializers.fields import InstantField
from incidents.choices import Action, DecisionKind, Outcome
from incidents.commands import commands_for
from incidents.models import Decision

#: What only a change says.
_CHANGES = ("changed_action", "changed_target")


class DecisionSerializer(serializers.ModelSerializer[Decision]):
    """What someone decided; `commands` carries it out, by scheduler, as text."""

    incident = serializers.IntegerField(source="recommendation.diagnosis.incident_id")
    diagnosis = serializers.IntegerField(source="recommendation.diagnosis_id")
    recommendation = serializers.IntegerField(source="recommendation_id")
    commands = serializers.SerializerMethodField()
    carried_from = serializers.IntegerField(
        source="carried_from_id",
        allow_null=True,
        help_text="The decision of an earlier run that this one repeats.",
    )
    decided_at = InstantField()
    undone_at = InstantField(allow_null=True)
    outcome_at = InstantField(allow_null=True)

    class Meta:
        model = Decision
        fields = [
            "id",
            "incident",
            "diagnosis",
            "recommendation",
            "kind",
            "changed_action",
            "changed_target",
            "reason",
            "standing",
            "carried_from",
            "actor",
            "decided_at",
            "undone_at",
            "undone_by",
            "commands",
            "outcome",
            "outcome_note",
            "outcome_at",
        ]

    def get_commands(self, decision: Decision) -> dict[str, str]:
        if decision.kind == DecisionKind.REJECT:
            return {}
        asked = decision.recommendation
        action = decision.changed_action or asked.action
        host = decision.changed_target or asked.target_host
        reference = f"INC-{asked.diagnosis.incident_id}"
        return dict(commands_for(action, host=host, reference=reference))


class DecisionRequestSerializer(RequestSerializer):
    """Accept, reject with a reason, or change with a reason."""

    kind = serializers.ChoiceField(choices=DecisionKind.choices)
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=10_000)
    changed_action = serializers.ChoiceField(
        choices=Action.choices, required=False, help_text="What to do instead; only to change."
    )
    changed_target = serializers.CharField(
        required=False,
        default="",
        max_length=300,
        help_text="On which host; only to change. To isolate, where the answer names none.",
    )
    confirm = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Go on where so many hosts would be isolated that Aegis asks again.",
    )

    def validate(self, attrs: Any) -> Any:
        """Refuses what does not belong together, field by field."""
        kind = DecisionKind(attrs["kind"])
        changes = kind is DecisionKind.CHANGE
        if kind is not DecisionKind.ACCEPT and not attrs["reason"].strip():
            raise serializers.ValidationError({"reason": ["Say why, so that others can follow."]})
        if changes and "changed_action" not in attrs:
            raise serializers.ValidationError(
                {"changed_action": ["Say what should be done instead."]}
            )
        if not changes and (foreign := [name for name in _CHANGES if attrs.get(name)]):
            raise serializers.ValidationError({foreign[0]: ['It goes with kind "change".']})
        action = attrs.get("changed_action")
        return {**attrs, "kind": kind, "changed_action": Action(action) if action else None}


class OutcomeRequestSerializer(RequestSerializer):
    """What came after a decision."""

    outcome = serializers.ChoiceField(choices=Outcome.choices)
    outcome_note = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=10_000
    )

    def validate_outcome(self, value: Any) -> Outcome:
        return Outcome(value)
