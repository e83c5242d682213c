"""Clusters and hosts."""

from typing import Any

from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.api.serializers.fields import InstantField
from incidents.choices import HostState
from incidents.models import Cluster, Host


class ClusterSerializer(serializers.ModelSerializer[Cluster]):
    """A set of hosts with one scheduler and one naming of hosts."""

    created_at = InstantField()

    class Meta:
        model = Cluster
        fields = ["id", "name", "created_at"]


class HostSerializer(serializers.ModelSerializer[Host]):
    """A machine, with how many open incidents name it."""

    cluster = serializers.CharField(source="cluster.name")
    open_incident_count = serializers.IntegerField()
    created_at = InstantField()

    class Meta:
        model = Host
        fields = [
            "id",
            "cluster",
            "name",
            "normalised_name",
            "state",
            "pod",
            "tor",
            "open_incident_count",
            "created_at",
        ]


class HostChangeSerializer(RequestSerializer):
    """A host's new state."""

    state = serializers.ChoiceField(choices=HostState.choices)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)

    def validate_state(self, value: Any) -> HostState:
        return HostState(value)
