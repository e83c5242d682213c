"""Merging, splitting and snoozing one incident, and steps on several at once."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api import examples
from incidents.api.describing import takes
from incidents.api.etag import expected_version
from incidents.api.idempotency import idempotent
from incidents.api.serializers.incidents import IncidentSerializer
from incidents.api.serializers.steps import (
    BatchRequestSerializer,
    BatchSerializer,
    MergeRequestSerializer,
    SnoozeRequestSerializer,
    SplitRequestSerializer,
)
from incidents.api.viewsets.base import RecordViewSet, address, record_of, recorded
from incidents.choices import BatchStep
from incidents.models import Batch, Incident
from incidents.roles import Capability
from incidents.services import batches
from incidents.services.batches import Done, Wanted
from incidents.services.merging import unmerge
from incidents.services.snoozing import snooze, wake
from incidents.services.splitting import split


class IncidentStepsViewSet(RecordViewSet):
    """Steps that make two incidents one, one two, or quiet for a while."""

    needs = {"POST": Capability.RESPOND, "DELETE": Capability.RESPOND}
    queryset = selectors.incident_with_hosts()
    serializer_class = IncidentSerializer

    @takes(MergeRequestSerializer, gives={200: IncidentSerializer}, examples=[examples.MERGE])
    def merge(self, request: Request, pk: int) -> Response:
        """Make it part of another incident. Its record stays, with `merged_into`.

        Files, notes and reports for it go to the other one from now on, which is judged anew.
        """
        with transaction.atomic():
            found, version = self._found(request, pk)
            into = self.given(MergeRequestSerializer)["into"]
            batches.change_many(
                actor=self.actor,
                incidents=[found],
                wanted=Wanted(step=BatchStep.MERGE, into=into),
                expected_version=version,
            )
        return self._now(pk)

    @takes(None, gives={200: IncidentSerializer})
    def unmerge(self, request: Request, pk: int) -> Response:
        """Take it out of the incident that it was merged into."""
        unmerge(actor=self.actor, incident=record_of(selectors.incidents(), pk))
        return self._now(pk)

    @takes(SplitRequestSerializer, gives={201: IncidentSerializer}, examples=[examples.SPLIT])
    @idempotent()
    def split(self, request: Request, pk: int) -> Response:
        """Make files and hosts of it an incident of their own; both are judged anew."""
        with transaction.atomic():
            found, version = self._found(request, pk)
            given = self.given(SplitRequestSerializer)
            second = split(actor=self.actor, incident=found, expected_version=version, **given)
        shown = self.shown(record_of(selectors.incident_with_hosts(), second.pk))
        return recorded(shown, at=address("incident", second.pk))

    @takes(SnoozeRequestSerializer, gives={200: IncidentSerializer}, examples=[examples.SNOOZE])
    def snooze(self, request: Request, pk: int) -> Response:
        """Take it off the desk until a time, or until something new arrives."""
        until = self.given(SnoozeRequestSerializer).get("until")
        with transaction.atomic():
            found, version = self._found(request, pk)
            snooze(actor=self.actor, incident=found, until=until, expected_version=version)
        return self._now(pk)

    @takes(None, gives={200: IncidentSerializer})
    def wake(self, request: Request, pk: int) -> Response:
        """Bring it back to the desk."""
        wake(actor=self.actor, incident=record_of(selectors.incidents(), pk))
        return self._now(pk)

    def _found(self, request: Request, pk: int) -> tuple[Incident, int | None]:
        """The incident, and the version that `If-Match` names, where it is sent."""
        found = record_of(selectors.incidents(), pk)
        if "If-Match" not in request.headers:
            return found, None
        return found, expected_version(request, current=found.version)

    def _now(self, pk: int) -> Response:
        return Response(self.shown(record_of(selectors.incident_with_hosts(), pk)))


class BatchViewSet(RecordViewSet):
    """Steps on several incidents, which can be taken back."""

    needs = {"POST": Capability.RESPOND}
    queryset = Batch.objects.order_by("-id")
    serializer_class = BatchSerializer

    @takes(BatchRequestSerializer, gives={201: BatchSerializer}, examples=[examples.BATCH])
    @idempotent()
    def create(self, request: Request) -> Response:
        """Take one step on several incidents; those whose state refuses are named in `refused`."""
        given = self.given(BatchRequestSerializer)
        chosen: Sequence[Incident] = given.pop("incidents")
        done = batches.change_many(actor=self.actor, incidents=chosen, wanted=Wanted(**given))
        return recorded(_shown(done), at=address("batch", done.batch.pk))

    def retrieve(self, request: Request, pk: int) -> Response:
        """What was done, and whether it was taken back."""
        batch = record_of(Batch.objects.all(), pk)
        items = batch.items.select_related("incident").order_by("id")
        return Response(_shown(Done(batch, [item.incident for item in items], {})))

    @takes(None, gives={200: BatchSerializer})
    def undo(self, request: Request, pk: int) -> Response:
        """Take it back on every incident that nobody changed since; the others are `refused`."""
        batch = record_of(Batch.objects.all(), pk)
        return Response(_shown(batches.undo(actor=self.actor, batch=batch)))


def _shown(done: Done) -> Any:
    """A batch as it is represented: its row with the incidents that it changed."""
    done.batch.incidents = [one.pk for one in done.changed]  # type: ignore[attr-defined]
    refused = [f"{name}: {why}" for name, why in done.refused.items()]
    done.batch.refused = refused  # type: ignore[attr-defined]
    return BatchSerializer(done.batch).data
