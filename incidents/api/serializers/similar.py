"""Past incidents that look like one."""

from typing import Any

from rest_framework import serializers

from incidents.api.serializers.decisions import DecisionSerializer
from incidents.api.serializers.incidents import IncidentSerializer


class LikenessSerializer(serializers.Serializer[Any]):
    """A past incident, what it has in common with this one, and what was decided on it."""

    incident = IncidentSerializer()
    why = serializers.ListField(
        child=serializers.CharField(), help_text="For example `same host`, `same fault`."
    )
    decisions = DecisionSerializer(many=True)
