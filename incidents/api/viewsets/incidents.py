"""Incidents: opening them, what people do with them, notes."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api import examples
from incidents.api.describing import takes
from incidents.api.etag import expected_version
from incidents.api.filters import IncidentListFilter
from incidents.api.idempotency import idempotent
from incidents.api.serializers.events import EventSerializer
from incidents.api.serializers.incidents import (
    IncidentChangeSerializer,
    IncidentRequestSerializer,
    IncidentSerializer,
    NoteSerializer,
)
from incidents.api.viewsets.base import RecordViewSet, address, record_of, recorded
from incidents.choices import IncidentStatus, Resolution
from incidents.models import Incident
from incidents.roles import Actor, Capability
from incidents.services import incidents
from incidents.services.correcting import Correction

_CORRECTED = [field.name for field in fields(Correction)]


class IncidentViewSet(RecordViewSet):
    """Things that went wrong with jobs or hosts."""

    needs = {"POST": Capability.RESPOND, "PATCH": Capability.RESPOND}
    queryset = selectors.incident_with_hosts()
    serializer_class = IncidentSerializer
    filterset_class = IncidentListFilter

    def list(self, request: Request) -> Response:
        """Incidents, newest first, by the filters of the desk."""
        return self.page(selectors.incident_with_hosts())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One incident. Its `ETag` goes into `If-Match` to change it."""
        return Response(self.shown(record_of(selectors.incident_with_hosts(), pk)))

    @takes(
        IncidentRequestSerializer,
        gives={201: IncidentSerializer, 200: IncidentSerializer},
        examples=[examples.INCIDENT_OF_ATTEMPT, examples.INCIDENT_OF_HOSTS],
    )
    @idempotent()
    def create(self, request: Request) -> Response:
        """Open an incident, or join the open one that this report belongs to.

        A report joins the open incident with its `dedup_key`, or without a key the open incident
        of its attempt: then the answer is 200 and not 201.
        """
        given = self.given(IncidentRequestSerializer)
        incident, new = incidents.open_incident(actor=self.actor, **given)
        shown = self.shown(record_of(selectors.incident_with_hosts(), incident.pk))
        return recorded(shown, at=address("incident", incident.pk), new=new)

    @takes(
        IncidentChangeSerializer,
        gives={200: IncidentSerializer},
        examples=[examples.ACKNOWLEDGE, examples.RESOLVE, examples.ASSIGN, examples.CORRECT],
    )
    def partial_update(self, request: Request, pk: int) -> Response:
        """Acknowledge, mitigate, resolve, reopen (`status: triggered`), assign or correct."""
        change = self.given(IncidentChangeSerializer)
        with transaction.atomic():
            incident = record_of(selectors.incidents(), pk)
            version = expected_version(request, current=incident.version)
            apply(self.actor, incident, change, version)
        return Response(self.shown(record_of(selectors.incident_with_hosts(), pk)))


class NotesViewSet(RecordViewSet):
    """What people write about an incident."""

    needs = {"POST": Capability.RESPOND}
    queryset = selectors.events_since()
    serializer_class = EventSerializer

    @takes(NoteSerializer, gives={201: EventSerializer})
    @idempotent()
    def create(self, request: Request, incident: int) -> Response:
        """Add a note to the timeline."""
        found = selectors.standing_record(record_of(selectors.incidents(), incident))
        with transaction.atomic():
            incidents.add_note(actor=self.actor, incident=found, **self.given(NoteSerializer))
            event = selectors.timeline(found).last()
        return Response(self.shown(event), status=201)


def apply(actor: Actor, incident: Incident, change: Mapping[str, Any], version: int | None) -> None:
    """The steps that a change comes down to; a status that stands already is no step."""
    corrected = {name: change[name] for name in _CORRECTED if name in change}
    if corrected:
        incident = incidents.correct(
            actor=actor,
            incident=incident,
            correction=Correction(**corrected),
            expected_version=version,
        )
        version = incident.version
    if "assignee" in change:
        incident = incidents.assign(
            actor=actor,
            incident=incident,
            assignee=change["assignee"],
            expected_version=version,
        )
        version = incident.version
    status = change.get("status", incident.status)
    if status == incident.status:
        return
    common: dict[str, Any] = {"actor": actor, "incident": incident, "expected_version": version}
    note = change["note"]
    if status == IncidentStatus.ACKNOWLEDGED:
        incidents.acknowledge(**common)
    elif status == IncidentStatus.MITIGATED:
        incidents.mitigate(note=note, **common)
    elif status == IncidentStatus.TRIGGERED:
        incidents.reopen(note=note, **common)
    else:
        resolution = Resolution(change["resolution"])
        incidents.resolve(resolution=resolution, note=note, **common)
