"""What the kinds of error mean, at the address that is their `type`; and addresses of nothing."""

from django.http import Http404
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from incidents.api.problem_kinds import PROBLEM_KINDS, ProblemKind
from incidents.api.serializers.problems import ProblemKindSerializer
from incidents.api.viewsets.base import RecordViewSet


class ProblemKindViewSet(RecordViewSet):
    """Kinds of error."""

    serializer_class = ProblemKindSerializer
    pagination_class = None
    filter_backends = []

    def list(self, request: Request) -> Response:
        """Every kind of error that this API answers with."""
        return Response(self.get_serializer(list(PROBLEM_KINDS.values()), many=True).data)

    def retrieve(self, request: Request, code: str) -> Response:
        """One kind of error."""
        kind: ProblemKind | None = PROBLEM_KINDS.get(code)
        if kind is None:
            raise Http404
        return Response(self.shown(kind))


class NothingHere(APIView):
    """Any other address below `/api/`: a 404 in the form of all errors."""

    schema = None
    permission_classes = [AllowAny]
    authentication_classes = []

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Refuses before anything else is looked at."""
        raise Http404
