"""Every error as RFC 9457 problem details, made in one place."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse, JsonResponse
from rest_framework import exceptions
from rest_framework.settings import api_settings
from rest_framework.views import set_rollback

from incidents.api.problem_kinds import PROBLEM_KINDS, ProblemKind
from incidents.exceptions import InvalidInput, RecordsError

MEDIA_TYPE = "application/problem+json"
#: When a database that is down is worth another try.
RETRY_SECONDS = "10"
logger = logging.getLogger(__name__)


class Problem(exceptions.APIException):
    """An error of the API itself, raised where no service is asked."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail, code)
        self.kind = PROBLEM_KINDS[code]
        self.status_code = self.kind.status
        self.errors = errors
        self.headers = headers or {}


class InvalidQuery(exceptions.ValidationError):
    """A parameter of the query that cannot be taken; `detail` is by parameter."""


_BY_EXCEPTION: Mapping[type[Exception], str] = {
    exceptions.ParseError: "malformed-body",
    exceptions.ValidationError: "invalid-input",
    exceptions.AuthenticationFailed: "invalid-token",
    exceptions.NotAuthenticated: "not-authenticated",
    exceptions.PermissionDenied: "not-allowed",
    exceptions.NotFound: "not-found",
    exceptions.MethodNotAllowed: "method-not-allowed",
    exceptions.NotAcceptable: "not-acceptable",
    exceptions.UnsupportedMediaType: "unsupported-media-type",
    exceptions.Throttled: "throttled",
    Http404: "not-found",
    PermissionDenied: "not-allowed",
    RequestDataTooBig: "body-too-large",
    SuspiciousOperation: "malformed-body",
    DjangoValidationError: "invalid-input",
    OperationalError: "unavailable",
    InterfaceError: "unavailable",
}


def problem_response(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """DRF's exception handler: whatever was raised, as a problem."""
    kind = kind_of(error)
    set_rollback()
    if kind.status in {HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE}:
        logger.error("%s failed", _address(context), exc_info=error)
    return as_response(
        kind, _detail(error, kind), errors=list(_errors(error)), headers=_headers(error)
    )


def as_response(
    kind: ProblemKind,
    detail: str,
    *,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """A problem document: JSON, whatever was asked for."""
    document: dict[str, object] = {
        "type": kind.type,
        "title": kind.title,
        "status": int(kind.status),
        "detail": detail,
    }
    if errors:
        document["errors"] = list(errors)
    return JsonResponse(
        document, status=kind.status, content_type=MEDIA_TYPE, headers=dict(headers or {})
    )


def kind_of(error: Exception) -> ProblemKind:
    """Which kind of problem an exception is; `internal-error` for what nobody expected."""
    if isinstance(error, Problem):
        return error.kind
    if isinstance(error, RecordsError):
        return PROBLEM_KINDS.get(error.code, PROBLEM_KINDS["refused"])
    codes = (code for raised, code in _BY_EXCEPTION.items() if isinstance(error, raised))
    return PROBLEM_KINDS[next(codes, "internal-error")]


def pointer(*parts: str | int) -> str:
    """A JSON pointer as a URI fragment (RFC 6901 section 6): `#/hosts/0`; `#` is the whole body."""
    return "#" + "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def _detail(error: Exception, kind: ProblemKind) -> str:
    if isinstance(error, exceptions.ValidationError):
        found = list(_errors(error))
        return found[0]["detail"] if len(found) == 1 else f"{len(found)} values cannot be taken."
    if isinstance(error, exceptions.APIException):
        return str(error.detail)
    if isinstance(error, DjangoValidationError):
        return " ".join(error.messages)
    if isinstance(error, RecordsError):
        return str(error)
    return kind.meaning


def _errors(error: Exception) -> Iterator[Mapping[str, str]]:
    if isinstance(error, InvalidQuery):
        for where, text in _leaves(error.detail):
            yield {"detail": text, "parameter": str(where[0]) if where else ""}
    elif isinstance(error, exceptions.ValidationError):
        for where, text in _leaves(error.detail):
            yield {"detail": text, "pointer": pointer(*where)}
    elif isinstance(error, InvalidInput):
        yield {"detail": str(error), "pointer": pointer(*error.field.split("."))}
    elif isinstance(error, Problem):
        yield from error.errors


def _leaves(detail: Any, where: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, str]]:
    """Path and text of each message in a validation error, however deeply nested."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            same = name == api_settings.NON_FIELD_ERRORS_KEY
            yield from _leaves(inner, where if same else (*where, name))
    elif isinstance(detail, list | tuple):
        for index, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list | tuple)
            yield from _leaves(inner, (*where, index) if nested else where)
    else:
        yield where, str(detail)


def _headers(error: Exception) -> Mapping[str, str]:
    if isinstance(error, Problem):
        return error.headers
    headers = {}
    if isinstance(error, OperationalError | InterfaceError):
        headers["Retry-After"] = RETRY_SECONDS
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = str(challenge)
    if (wait := getattr(error, "wait", None)) is not None:
        headers["Retry-After"] = str(int(wait))
    return headers


def _address(context: Mapping[str, Any]) -> str:
    request = context.get("request")
    return f"{request.method} {request.path}" if request is not None else "a request"
