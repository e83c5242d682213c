"""Which pod and ToR each host is under: the whole of a cluster in one call."""

from typing import Any

import orjson
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.topology import read_topology
from incidents.api.describing import takes
from incidents.api.viewsets.base import RecordViewSet
from incidents.hostnames import what_is_wrong
from incidents.models import Host
from incidents.roles import Capability
from incidents.services.topology import place_hosts


class TopologySerializer(serializers.Serializer[Any]):
    """`topology.json` of docs/contract.md and the cluster that it is of."""

    cluster = serializers.CharField(max_length=100, required=False, allow_blank=True)
    hosts = serializers.ListField(child=serializers.DictField(), allow_empty=False, max_length=5000)


class PlacedHostsSerializer(serializers.Serializer[Any]):
    """How many hosts were named, and how many of them have moved or are new."""

    hosts = serializers.IntegerField()
    moved = serializers.IntegerField()


class TopologyViewSet(RecordViewSet):
    """The network that hosts hang on."""

    needs = {"POST": Capability.OPERATE}
    queryset = Host.objects.none()
    serializer_class = PlacedHostsSerializer
    pagination_class = None

    @takes(TopologySerializer, gives={200: PlacedHostsSerializer})
    def create(self, request: Request) -> Response:
        """Say in which pod and under which ToRs hosts are. Hosts that are new are registered.

        A cluster that is not there is refused.
        """
        given = self.given(TopologySerializer)
        try:
            topology = read_topology(orjson.dumps({"hosts": given["hosts"]}))
        except (UnreadableEvidence, TypeError) as error:
            raise ValidationError({"hosts": [str(error)]}) from error
        wrong = {
            str(place): {"name": [told]}
            for place, one in enumerate(topology.hosts)
            if (told := what_is_wrong(one.name))
        }
        if wrong:
            raise ValidationError({"hosts": wrong})
        places = {one.name: (one.pod or "", ", ".join(sorted(one.tors))) for one in topology.hosts}
        moved = place_hosts(actor=self.actor, cluster=given.get("cluster", ""), places=places)
        return Response(self.shown({"hosts": len(places), "moved": moved}))
