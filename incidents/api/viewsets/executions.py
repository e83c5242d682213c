"""Carrying decisions out: a plan first, then one run."""

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api.describing import takes
from incidents.api.filters import ExecutionListFilter
from incidents.api.idempotency import idempotent
from incidents.api.serializers.executions import ExecutionSerializer, RunSerializer
from incidents.api.viewsets.base import RecordViewSet, address, record_of, recorded
from incidents.models import Execution
from incidents.roles import Capability
from incidents.services import executions


class ExecutionViewSet(RecordViewSet):
    """Commands that carry decisions out, where whoever runs the instance switched that on."""

    needs = {"POST": Capability.EXECUTE}
    queryset = Execution.objects.none()
    serializer_class = ExecutionSerializer
    filterset_class = ExecutionListFilter

    def get_queryset(self) -> QuerySet[Execution]:
        """Asked at each request, within the reach of whoever asks."""
        return selectors.executions()

    def list(self, request: Request) -> Response:
        """Planned and run commands, newest first."""
        return self.page(self.get_queryset())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One command with its state and output."""
        return Response(self.shown(record_of(self.get_queryset(), pk)))

    @takes(None, gives={201: ExecutionSerializer, 200: ExecutionSerializer})
    @idempotent()
    def plan(self, request: Request, recommendation: int) -> Response:
        """Dry run: the exact command for the decision that stands. Nothing runs.

        409 where nothing was accepted, or no executor is switched on.
        """
        asked = record_of(selectors.recommendations_in_full(), recommendation)
        made, new = executions.plan(actor=self.actor, recommendation=asked)
        shown = self.shown(record_of(self.get_queryset(), made.pk))
        return recorded(shown, at=address("execution", made.pk), new=new)

    @takes(RunSerializer, gives={202: ExecutionSerializer})
    @idempotent()
    def run(self, request: Request, pk: int) -> Response:
        """Run the planned command, once and never again. Read it until it is `done` or `failed`."""
        found = record_of(self.get_queryset(), pk)
        executions.ask_to_run(actor=self.actor, execution=found, **self.given(RunSerializer))
        shown = self.shown(record_of(self.get_queryset(), pk))
        return Response(shown, status=202, headers={"Location": address("execution", pk)})
