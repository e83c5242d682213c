"""The taxonomy to read, and the pictures of a diagnosis as data."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from diagnosis.api.serializers import (
    FaultTypeSerializer,
    SignatureSerializer,
    TaxonomySerializer,
    TaxonomyVersionInFullSerializer,
    TaxonomyVersionSerializer,
)
from diagnosis.models import FaultType, ProgressPicture, Signature, TaxonomyVersion
from incidents import selectors
from incidents.api.describing import gives
from incidents.api.pagination import CursorPagination
from incidents.api.viewsets.base import RecordViewSet, record_of


class ByCode(CursorPagination):
    """In the order of codes."""

    ordering = "code"


class TaxonomyViewSet(RecordViewSet):
    """The rules that the next diagnosis will use."""

    queryset = TaxonomyVersion.objects.all()
    serializer_class = TaxonomySerializer
    pagination_class = None

    def retrieve(self, request: Request) -> Response:
        """Version and size of the taxonomy."""
        newest = TaxonomyVersion.objects.first()
        taxonomy = {
            "version": newest.version if newest else "",
            "fault_type_count": FaultType.objects.count(),
            "signature_count": Signature.objects.count(),
            "enabled_signature_count": Signature.objects.filter(enabled=True).count(),
        }
        return Response(self.shown(taxonomy))


class FaultTypeViewSet(RecordViewSet):
    """Faults by their code."""

    queryset = FaultType.objects.all()
    serializer_class = FaultTypeSerializer
    pagination_class = ByCode

    def list(self, request: Request) -> Response:
        """Fault types, by code."""
        return self.page(self.get_queryset())

    def retrieve(self, request: Request, code: str) -> Response:
        """One fault type."""
        return Response(self.shown(get_object_or_404(self.get_queryset(), code=code)))


class SignatureViewSet(RecordViewSet):
    """The patterns that tell fault types from logs."""

    queryset = Signature.objects.select_related("fault_type")
    serializer_class = SignatureSerializer
    pagination_class = ByCode

    def list(self, request: Request) -> Response:
        """Signatures, by code."""
        return self.page(self.get_queryset())

    def retrieve(self, request: Request, code: str) -> Response:
        """One signature."""
        return Response(self.shown(get_object_or_404(self.get_queryset(), code=code)))


class TaxonomyVersionViewSet(RecordViewSet):
    """Every version of the rules."""

    queryset = TaxonomyVersion.objects.all()
    serializer_class = TaxonomyVersionSerializer

    def list(self, request: Request) -> Response:
        """Versions, newest first."""
        return self.page(
            self.get_queryset().defer("rows", "overrides", "ignore_rules", "maintenance")
        )

    @gives(TaxonomyVersionInFullSerializer)
    def retrieve(self, request: Request, pk: int) -> Response:
        """One version with all its rows."""
        version = record_of(self.get_queryset(), pk)
        return Response(TaxonomyVersionInFullSerializer(version).data)


class ProgressPictureViewSet(RecordViewSet):
    """How far each rank came in each communicator."""

    queryset = ProgressPicture.objects.all()
    pagination_class = None

    @gives(OpenApiTypes.OBJECT)
    def retrieve(self, request: Request, diagnosis: int) -> Response:
        """What the collective-progress picture of a diagnosis is drawn from."""
        record_of(selectors.diagnoses(), diagnosis)
        return Response(record_of(self.get_queryset(), diagnosis).data)
