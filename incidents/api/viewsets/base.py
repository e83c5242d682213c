"""What every endpoint does the same way: tags, conditional reads, who is asking."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from django.db.models import Model, QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from incidents.api.authentication import actor_of
from incidents.api.etag import etag_of, is_known
from incidents.api.filters import QueryFilter
from incidents.api.parsers import JSONParser
from incidents.api.schema import RecordSchema
from incidents.roles import Actor, Capability

_Record = TypeVar("_Record", bound=Model)
_TAGGED = frozenset({200, 201, 202})


class RecordViewSet(GenericViewSet[Any]):
    """One kind of record. `needs` names the capability of each method that is not reading."""

    needs: ClassVar[Mapping[str, Capability]] = {}
    parser_classes = [JSONParser]
    filter_backends = [QueryFilter]
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    schema = RecordSchema()

    @property
    def actor(self) -> Actor:
        """Who is asking."""
        return actor_of(self.request)

    def page(self, rows: QuerySet[Any]) -> Response:
        """A page of the rows that the filters leave."""
        found = self.paginate_queryset(self.filter_queryset(rows))
        return self.get_paginated_response(self.get_serializer(found, many=True).data)

    def shown(self, record: Any) -> Any:
        """A record as this endpoint represents it."""
        return self.get_serializer(record).data

    def given(self, serializer: type[BaseSerializer[Any]], **options: Any) -> Any:
        """The body's checked values. Raises `ValidationError`."""
        body = serializer(data=self.request.data, context={"request": self.request}, **options)
        body.is_valid(raise_exception=True)
        return body.validated_data

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Tags answers; one that the reader has already shrinks to 304."""
        final = super().finalize_response(request, response, *args, **kwargs)
        if isinstance(final, Response) and final.status_code in _TAGGED and final.data is not None:
            tag = etag_of(final.data)
            final["ETag"] = tag
            final["Cache-Control"] = "private, no-cache"
            if request.method in {"GET", "HEAD"} and is_known(request, tag):
                final.data, final.status_code = None, 304
        return final


def recorded(data: Any, *, at: str, new: bool = True) -> Response:
    """201 with a new record and its address; 200 where it was there already."""
    return Response(data, status=201 if new else 200, headers={"Location": at})


def address(name: str, pk: int) -> str:
    """Where a record is read."""
    return reverse(f"api:{name}", args=[pk])


def record_of(rows: QuerySet[_Record], pk: int) -> _Record:
    """The record with this id, or 404."""
    return get_object_or_404(rows, pk=pk)
