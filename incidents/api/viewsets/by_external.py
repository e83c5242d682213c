"""Incidents by the id that the caller's system gave them."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api import examples
from incidents.api.describing import takes
from incidents.api.etag import expected_version
from incidents.api.problems import Problem
from incidents.api.serializers.incidents import (
    IncidentSerializer,
    UpsertSerializer,
)
from incidents.api.viewsets.base import RecordViewSet, address, record_of, recorded
from incidents.api.viewsets.incidents import apply
from incidents.models import Incident
from incidents.roles import Actor, Capability
from incidents.services.correcting import add_hosts
from incidents.services.external_ids import incident_of, open_as

#: What a report says once; afterwards it is corrected.
_OPENING = ("title", "kind", "severity", "dedup_key", "job", "attempt", "hosts", "cluster")
_TIMES = ("onset_at", "ended_at")
_CHANGING = ("title", "kind", "severity", "job", "attempt", "status", "resolution", "assignee")


class ByExternalIdViewSet(RecordViewSet):
    """The incident that another system knows by its own id."""

    needs = {"PUT": Capability.RESPOND}
    queryset = selectors.incident_with_hosts()
    serializer_class = IncidentSerializer

    def retrieve(self, request: Request, source: str, external_id: str) -> Response:
        """The incident of this id; of a merged one, the incident that it is part of."""
        found = incident_of(source, external_id)
        if found is None:
            raise Http404
        return Response(self.shown(record_of(selectors.incident_with_hosts(), found.pk)))

    @takes(
        UpsertSerializer,
        gives={200: IncidentSerializer, 201: IncidentSerializer},
        examples=[examples.UPSERT],
    )
    def update(self, request: Request, source: str, external_id: str) -> Response:
        """Open the incident of this id, or bring it up to date: send it as often as you like.

        Only what is given is changed. Hosts are added and none is taken away; another cluster is
        refused (409). `If-None-Match: *` makes it only where the id is new (412 else); `If-Match`
        changes only the state that you saw.
        """
        given: dict[str, Any] = self.given(UpsertSerializer)
        with transaction.atomic():
            incident, new = open_as(
                actor=self.actor,
                source=source,
                external_id=external_id,
                report={name: given[name] for name in (*_OPENING, *_TIMES) if name in given},
            )
            if not new and request.headers.get("If-None-Match", "").strip() == "*":
                raise Problem("stale-version", "There is an incident with this id already.")
            version = None
            if not new and "If-Match" in request.headers:
                version = expected_version(request, current=incident.version)
            if not new:
                incident = _with_hosts(self.actor, incident, given, version)
                version = incident.version if version is not None else None
            change = {name: given[name] for name in _CHANGING if name in given}
            if not new or "status" in change or "assignee" in change:
                apply(self.actor, incident, {**change, "note": given.get("note", "")}, version)
        shown = self.shown(record_of(selectors.incident_with_hosts(), incident.pk))
        return recorded(shown, at=address("incident", incident.pk), new=new)


def _with_hosts(
    actor: Actor, incident: Incident, given: Mapping[str, Any], version: int | None
) -> Incident:
    """The incident with the hosts that are given; as in a first report, a job says the cluster."""
    cluster = given.get("cluster", incident.cluster.name)
    if cluster != incident.cluster.name and not {"job", "attempt"} & given.keys():
        told = (
            f"{incident.reference} is in cluster {incident.cluster}, not '{cluster}': leave the "
            "cluster out, correct the job, or use another id."
        )
        raise Problem("transition-refused", told, errors=[{"detail": told, "pointer": "#/cluster"}])
    hosts = given.get("hosts", [])
    return add_hosts(actor=actor, incident=incident, hosts=hosts, expected_version=version)
