"""Past incidents that look like one, and what ended them."""

from django.db.models import prefetch_related_objects
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api.describing import gives
from incidents.api.serializers.similar import LikenessSerializer
from incidents.api.viewsets.base import RecordViewSet, record_of


class SimilarViewSet(RecordViewSet):
    """What happened before."""

    serializer_class = LikenessSerializer
    pagination_class = None
    filter_backends = []

    @gives(LikenessSerializer(many=True))
    def list(self, request: Request, incident: int) -> Response:
        """At most five past incidents that share host, fault or finding, the likest first."""
        found = record_of(selectors.incidents(), incident)
        likenesses = selectors.similar_incidents(found)
        alike = [one.incident for one in likenesses]
        prefetch_related_objects(alike, "hosts", "tickets__connector")
        return Response(self.get_serializer(likenesses, many=True).data)
