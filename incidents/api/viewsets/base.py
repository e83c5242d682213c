"""What every endpoint does the same way: tags, conditional reads, parsing, who is asking."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from django.db.models import Model, QuerySet
from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import GenericViewSet

from incidents.api.authentication import actor_of
from incidents.api.etag import etag_of, is_known
from incidents.api.parsers import JSONParser
from incidents.roles import Actor, Capability

_Record = TypeVar("_Record", bound=Model)

#: How an id looks in an address: it fits a 64-bit integer.
ID = r"[0-9]{1,18}"


class RecordViewSet(GenericViewSet[Any]):
    """One kind of record. `needs` names the capability of each writing method."""

    needs: ClassVar[Mapping[str, Capability]] = {}
    parser_classes = [JSONParser]
    metadata_class = None

    @property
    def actor(self) -> Actor:
        """Who is asking."""
        return actor_of(self.request)

    def list(self, request: Request, **_parts: str) -> Response:
        """A page of the records that the filters leave."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    def retrieve(self, request: Request, **_parts: str) -> Response:
        """One record."""
        return Response(self.shown(self.get_object()))

    def shown(self, record: Any) -> dict[str, Any]:
        """A record as this endpoint represents it."""
        return dict(self.get_serializer(record).data)

    def given(self, request: Request, serializer: type[Serializer[Any]]) -> Any:
        """The body's checked values. Raises `ValidationError`."""
        body = serializer(data=request.data, context=self.get_serializer_context())
        body.is_valid(raise_exception=True)
        return body.validated_data

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        """Tags answers; an answer that the reader has already shrinks to 304."""
        final = super().finalize_response(request, response, *args, **kwargs)
        if isinstance(final, Response) and _is_representation(final):
            tag = etag_of(final.data)
            final["ETag"] = tag
            final["Cache-Control"] = "private, no-cache"
            if request.method in {"GET", "HEAD"} and is_known(request, tag):
                final.data, final.status_code = None, 304
        return final


def _is_representation(response: Response) -> bool:
    return response.status_code in {200, 201, 202} and response.data is not None


def created_at(address: str, data: Mapping[str, Any], *, new: bool = True) -> Response:
    """201 with the new record and its address; 200 where it was there already."""
    return Response(data, status=201 if new else 200, headers={"Location": address})


def record_of(queryset: QuerySet[_Record], pk: str) -> _Record:
    """The record with this id, or 404."""
    return get_object_or_404(queryset, pk=int(pk))
