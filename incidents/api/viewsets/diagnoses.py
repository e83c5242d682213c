"""Diagnoses with their suspects and recommendations."""

from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api.describing import takes
from incidents.api.filters import DiagnosisListFilter, RecommendationListFilter, SuspectListFilter
from incidents.api.idempotency import idempotent
from incidents.api.serializers.diagnoses import (
    DiagnosisBriefSerializer,
    DiagnosisSerializer,
    RecommendationInListSerializer,
    SuspectInListSerializer,
)
from incidents.api.viewsets.base import RecordViewSet, address, record_of
from incidents.roles import Capability
from incidents.services.diagnoses import request_diagnosis


class DiagnosesOfIncidentViewSet(RecordViewSet):
    """The runs of one incident, side by side."""

    needs = {"POST": Capability.RESPOND}
    queryset = selectors.diagnoses()
    serializer_class = DiagnosisBriefSerializer
    filterset_class = DiagnosisListFilter

    def list(self, request: Request, incident: int) -> Response:
        """Runs of an incident, newest first."""
        return self.page(selectors.diagnoses_of(record_of(selectors.incidents(), incident)))

    @takes(None, gives={202: DiagnosisBriefSerializer})
    @idempotent()
    def create(self, request: Request, incident: int) -> Response:
        """Ask for a run over all evidence. A run that waits already is the one."""
        found = record_of(selectors.incidents(), incident)
        run = request_diagnosis(actor=self.actor, incident=found)
        headers = {"Location": address("diagnosis", run.pk), "Retry-After": "1"}
        return Response(self.shown(run), status=202, headers=headers)


class DiagnosisViewSet(RecordViewSet):
    """One run."""

    queryset = selectors.diagnoses_in_full()
    serializer_class = DiagnosisSerializer

    def retrieve(self, request: Request, pk: int) -> Response:
        """One run in full: once `state` is `done`, the contract's diagnosis object with ids."""
        return Response(self.shown(record_of(selectors.diagnoses_in_full(), pk)))


class SuspectViewSet(RecordViewSet):
    """Suspects over all diagnoses."""

    queryset = selectors.suspects()
    serializer_class = SuspectInListSerializer
    filterset_class = SuspectListFilter

    def list(self, request: Request) -> Response:
        """Suspects, newest first."""
        return self.page(selectors.suspects())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One suspect."""
        return Response(self.shown(record_of(selectors.suspects(), pk)))


class RecommendationViewSet(RecordViewSet):
    """Recommendations over all diagnoses."""

    queryset = selectors.recommendations_in_full()
    serializer_class = RecommendationInListSerializer
    filterset_class = RecommendationListFilter

    def list(self, request: Request) -> Response:
        """Recommendations, newest first."""
        return self.page(selectors.recommendations_in_full())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One recommendation."""
        return Response(self.shown(record_of(selectors.recommendations_in_full(), pk)))
