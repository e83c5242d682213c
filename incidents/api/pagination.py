"""Pages by cursor: none is skipped or shown twice while new records arrive."""

from collections.abc import Mapping
from typing import Any

from rest_framework import pagination
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from incidents.api.problems import InvalidQuery, Problem

MAX_PAGE_SIZE = 500


class CursorPagination(pagination.CursorPagination):
    """Newest first; `limit` sets the size of a page, from 1 to 500."""

    page_size = 50
    page_size_query_param = "limit"
    max_page_size = MAX_PAGE_SIZE
    cursor_query_param = "cursor"
    ordering = "-id"
    page_size_query_description = f"How many results a page holds, 1 to {MAX_PAGE_SIZE}."
    cursor_query_description = "Where the page starts: taken from `next` or `previous`, opaque."

    def paginate_queryset(
        self, queryset: Any, request: Request, view: Any = None
    ) -> list[Any] | None:
        """One page. Raises a problem for a cursor that this server did not make."""
        try:
            return super().paginate_queryset(queryset, request, view)
        except (NotFound, ValueError, TypeError) as error:
            raise Problem("invalid-cursor", "The cursor cannot be read.") from error

    def get_page_size(self, request: Request) -> int | None:
        """The size asked for; a size that makes no sense is refused, not ignored."""
        return bounded_limit(request, default=self.page_size or MAX_PAGE_SIZE)

    def get_paginated_response(self, data: Any) -> Response:
        """Addresses of the pages beside this one, and the results."""
        return Response(
            {"next": self.get_next_link(), "previous": self.get_previous_link(), "results": data}
        )

    def get_paginated_response_schema(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The shape of a page, for the OpenAPI document."""
        link = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": link, "previous": link, "results": schema},
        }


class OldestFirst(CursorPagination):
    """In the order in which things were recorded."""

    ordering = "id"


def bounded_limit(request: Request, *, default: int) -> int:
    """The query's `limit`, from 1 to `MAX_PAGE_SIZE`."""
    text = request.query_params.get("limit", "").strip() or str(default)
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= MAX_PAGE_SIZE:
        raise InvalidQuery({"limit": [f"A whole number from 1 to {MAX_PAGE_SIZE}."]})
    return int(text)
