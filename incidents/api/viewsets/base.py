"""What every endpoint does the same way: tags, conditional reads, who is asking."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from django.db.models import Model, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from incidents.api.authentication import actor_of
from incidents.api.etag import etag_of, is_known
from incidents.api.expanding import Expansion, expanded, wanted_expansions
from incidents.api.fields import PARAMETER, Wanted, picked, wanted_fields
from incidents.api.filters import QueryFilter
from incidents.api.parsers import JSONParser
from incidents.api.problems import InvalidQuery
from incidents.api.schema import RecordSchema
from incidents.roles import Actor, Capability

_Record = TypeVar("_Record", bound=Model)
_NO_ID = 2**63
_TAGGED = frozenset({200, 201, 202})


class RecordViewSet(GenericViewSet[Any]):
    """One kind of record. `needs` names the capability of each method that is not reading."""

    needs: ClassVar[Mapping[str, Capability]] = {}
    parser_classes = [JSONParser]
    filter_backends = [QueryFilter]
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    schema = RecordSchema()
    #: Whether requests count towards the limit a minute.
    rate_limited = True
    wanted: Wanted = {}
    wanted_fuller: Mapping[str, Expansion] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuses fields that this endpoint's records do not have, before anything is done."""
        super().initial(request, *args, **kwargs)
        reading = request.method in {"GET", "HEAD"}
        self.wanted_fuller = wanted_expansions(request, self.serializer_class) if reading else {}
        self.wanted = wanted_fields(request) if reading else {}
        if not self.wanted or self.serializer_class is None:
            return  # what a picture is drawn from has no fixed fields
        known = list(getattr(self.get_serializer(), "fields", ()))
        if unknown := [name for name in self.wanted if name not in known]:
            message = f"There is no field {unknown[0]}. Known: {', '.join(known)}."
            raise InvalidQuery({PARAMETER: [message]})

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
        for name, value in getattr(getattr(request, "_request", request), "rate_limit", {}).items():
            final[name] = value
        if isinstance(final, Response) and final.status_code in _TAGGED and final.data is not None:
            final.data = expanded(final.data, self.wanted_fuller)
            tag = etag_of(final.data)
            if request.method in {"GET", "HEAD"}:
                final.data = picked(final.data, self.wanted)
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
    """The record with this id, or 404; an id that no database could hold is none."""
    if pk >= _NO_ID:
        raise Http404
    return get_object_or_404(rows, pk=pk)
