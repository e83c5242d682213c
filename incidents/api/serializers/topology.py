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
    """A machine, with how many open incidents name it.

    `repeat_offender_score` (0 to 1) is the probability that it is one of the few that break most.
    """

    cluster = serializers.CharField(source="cluster.name")
    open_incident_count = serializers.IntegerField()
    repeat_offender_score = serializers.SerializerMethodField()
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
            "repeat_offender_score",
            "created_at",
        ]

    def get_repeat_offender_score(self, host: Host) -> float:
        """To two decimals: it ages all the time, and a host that nobody touched keeps its ETag."""
        return round(host.lemon_score, 2)


class HostChangeSerializer(RequestSerializer):
    """A host's new state."""

    state = serializers.ChoiceField(choices=HostState.choices)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)

    def validate_state(self, value: Any) -> HostState:
        return HostState(value)
