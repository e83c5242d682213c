"""Jobs, their attempts, and which rank of an attempt ran where."""

from typing import Any

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api import examples
from incidents.api.describing import gives, takes
from incidents.api.etag import etag_of, require_match
from incidents.api.filters import JobListFilter
from incidents.api.idempotency import idempotent
from incidents.api.serializers.jobs import (
    MAX_RANKS,
    AttemptChangeSerializer,
    AttemptRequestSerializer,
    AttemptSerializer,
    JobRequestSerializer,
    JobSerializer,
    PlacedRankSerializer,
)
from incidents.api.viewsets.base import RecordViewSet, address, record_of, recorded
from incidents.models import Attempt
from incidents.roles import Capability
from incidents.services import jobs
from incidents.services.jobs import Layout
from incidents.services.topology import DEFAULT_CLUSTER

_SIZES = ("tp_size", "pp_size", "dp_size", "ep_size")


class JobViewSet(RecordViewSet):
    """Training jobs, each known to its scheduler by an id."""

    needs = {"POST": Capability.REGISTER_JOBS}
    queryset = selectors.jobs()
    serializer_class = JobSerializer
    filterset_class = JobListFilter

    def list(self, request: Request) -> Response:
        """Jobs, newest first."""
        return self.page(selectors.jobs())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One job."""
        return Response(self.shown(record_of(selectors.jobs(), pk)))

    @takes(
        JobRequestSerializer,
        gives={201: JobSerializer, 200: JobSerializer},
        examples=[examples.JOB],
    )
    @idempotent()
    def create(self, request: Request) -> Response:
        """Register a job, or bring it up to date: 201 where it is new, 200 where it was known."""
        given = self.given(JobRequestSerializer)
        layout = Layout(**{name: given.pop(name, None) for name in _SIZES})
        with transaction.atomic():
            known = selectors.job_named(
                external_id=given["external_id"],
                source=given.get("source", ""),
                cluster=given.get("cluster") or DEFAULT_CLUSTER,
            )
            job = jobs.register_job(actor=self.actor, layout=layout, **given)
        shown = self.shown(record_of(selectors.jobs(), job.pk))
        return recorded(shown, at=address("job", job.pk), new=known is None)


class AttemptsOfJobViewSet(RecordViewSet):
    """The attempts of one job."""

    needs = {"POST": Capability.REGISTER_JOBS}
    queryset = selectors.attempts()
    serializer_class = AttemptSerializer

    def list(self, request: Request, job: int) -> Response:
        """Attempts of a job, newest first."""
        return self.page(selectors.attempts_of(record_of(selectors.jobs(), job)))

    @takes(
        AttemptRequestSerializer,
        gives={201: AttemptSerializer},
        examples=[examples.ATTEMPT],
    )
    @idempotent()
    def create(self, request: Request, job: int) -> Response:
        """Register an attempt, with its placement where that is known."""
        given = self.given(AttemptRequestSerializer)
        attempt = jobs.start_attempt(
            actor=self.actor, job=record_of(selectors.jobs(), job), **given
        )
        return recorded(self.shown(attempt), at=address("attempt", attempt.pk))


class AttemptViewSet(RecordViewSet):
    """One run of a job, from a start or restart to its end."""

    needs = {"PATCH": Capability.REGISTER_JOBS}
    queryset = selectors.attempts()
    serializer_class = AttemptSerializer

    def retrieve(self, request: Request, pk: int) -> Response:
        """One attempt."""
        return Response(self.shown(record_of(selectors.attempts(), pk)))

    @takes(
        AttemptChangeSerializer,
        gives={200: AttemptSerializer},
        examples=[examples.ATTEMPT_END],
    )
    def partial_update(self, request: Request, pk: int) -> Response:
        """Note how an attempt ended."""
        change = self.given(AttemptChangeSerializer)
        with transaction.atomic():
            attempt = record_of(selectors.attempts().select_for_update(of=("self",)), pk)
            require_match(request, etag_of(self.shown(attempt)))
            ended = jobs.end_attempt(actor=self.actor, attempt=attempt, **change)
        return Response(self.shown(ended))


class PlacementViewSet(RecordViewSet):
    """Which rank of an attempt runs on which host and GPU."""

    needs = {"PUT": Capability.REGISTER_JOBS}
    queryset = selectors.attempts()
    serializer_class = PlacedRankSerializer
    pagination_class = None

    @gives(PlacedRankSerializer(many=True))
    def retrieve(self, request: Request, attempt: int) -> Response:
        """The whole placement, by rank, as `placement.json` has it."""
        return Response(self._rows_of(record_of(selectors.attempts(), attempt)))

    @takes(
        PlacedRankSerializer(many=True),
        gives={200: PlacedRankSerializer(many=True)},
        examples=[examples.PLACEMENT],
    )
    def update(self, request: Request, attempt: int) -> Response:
        """Replace the placement of an attempt. `If-Match` is looked at where it is sent."""
        given = self.given(PlacedRankSerializer, many=True, max_length=MAX_RANKS)
        with transaction.atomic():
            found = record_of(selectors.attempts().select_for_update(of=("self",)), attempt)
            if "If-Match" in request.headers:
                require_match(request, etag_of(self._rows_of(found)))
            jobs.set_placement(actor=self.actor, attempt=found, placement=given)
        return Response(self._rows_of(found))

    def _rows_of(self, attempt: Attempt) -> Any:
        return self.get_serializer(selectors.placement_of(attempt), many=True).data
