"""No address holds a NUL character: PostgreSQL has no text with one, so nothing could be found."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from incidents.api.problems import InvalidQuery, problem_response

_NUL = "\x00"
_API = "/api/"


class NoNulInAddress:
    """Answers 404 to such a path and 400 to such a query, before any view reads it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Raises `Http404` or `BadRequest` for pages; the API gets its problem document."""
        names = [
            name
            for name, values in request.GET.lists()
            if any(_NUL in text for text in (name, *values))
        ]
        if _NUL in request.path:
            return _refused(request, Http404("No address holds a NUL character."))
        if names:
            message = "A NUL character is part of no text."
            return _refused(request, InvalidQuery({name: [message] for name in names}))
        return self.get_response(request)


def _refused(request: HttpRequest, error: Exception) -> HttpResponse:
    if request.path.startswith(_API):
        return problem_response(error, {})
    raise error if isinstance(error, Http404) else BadRequest(str(error))
