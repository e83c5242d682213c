"""What the OpenAPI document says of every endpoint alike: tokens, headers, errors."""

from collections.abc import Mapping
from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

from incidents.api.expanding import EXPANSIONS
from incidents.api.expanding import PARAMETER as EXPAND
from incidents.api.serializers.problems import ProblemSerializer

_HEADER: Literal["header"] = "header"
_IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    _HEADER,
    description=(
        "Any text of 1 to 255 visible ASCII characters that stands for this one request. Sent "
        "again with the same body, it gets the first answer again for 24 hours."
    ),
)
_IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    _HEADER,
    required=True,
    description="The `ETag` of the state that you saw, or `*` for whatever is there.",
)
_IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, _HEADER, description="The `ETag` that you have: 304 while it is current."
)
_FIELDS = OpenApiParameter(
    "fields",
    str,
    description="Only these fields of each record: `id,status,job.name`. The `ETag` is of all.",
)
_ETAG = OpenApiParameter(
    "ETag",
    str,
    _HEADER,
    response=[200, 201, 202],
    description="Stands for this state of the record.",
)
_HEADERS: Mapping[str, OpenApiParameter] = {
    "GET": _IF_NONE_MATCH,
    "POST": _IDEMPOTENCY_KEY,
    "PATCH": _IF_MATCH,
}
_ALWAYS = (400, 401, 403, 429)
_PROBLEMS: Mapping[str, tuple[int, ...]] = {
    "GET": _ALWAYS,
    "POST": (*_ALWAYS, 409, 413, 415, 422),
    "PUT": (*_ALWAYS, 412, 413, 415),
    "PATCH": (*_ALWAYS, 409, 412, 413, 415, 428),
    "DELETE": _ALWAYS,
}


class BearerToken(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a program says who it is."""

    target_class = "incidents.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "aegis_<prefix>_<secret>"}


class RoutingKey(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How PagerDuty's clients say who they are."""

    target_class = "incidents.api.viewsets.inbox.RoutingKeyAuthentication"
    name = "routing_key"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        told = "An Aegis token as `routing_key` in the body."
        return {"type": "http", "scheme": "routing-key", "description": told}


class RecordSchema(AutoSchema):
    """Adds the headers that each method takes, and the errors that it may answer with."""

    def get_summary(self) -> str:
        """The first sentence of the handler's docstring."""
        first, _, _ = str(self.get_description()).partition("\n\n")
        return " ".join(first.split()).removesuffix(".")

    def get_override_parameters(self) -> list[Any]:
        """Headers of the request."""
        header = _HEADERS.get(self.method)
        also = [_FIELDS, *self._expand()] if self.method == "GET" else []
        return [*super().get_override_parameters(), _ETAG, *([header] if header else []), *also]

    def _expand(self) -> list[OpenApiParameter]:
        """The parameter `expand` with the values that this address takes."""
        known = list(EXPANSIONS.get(getattr(self.view, "serializer_class", None), {}))
        if not known:
            return []
        return [
            OpenApiParameter(
                EXPAND,
                {"type": "array", "items": {"type": "string", "enum": known}},
                description=(
                    "Shows these records in place of their ids. The `ETag` is of the expanded "
                    "answer: for `If-Match`, read without it."
                ),
                explode=False,
            )
        ]

    def _get_response_bodies(
        self, direction: Literal["request", "response"] = "response"
    ) -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if direction != "response":
            return bodies
        if self.method == "GET":
            bodies["304"] = {"description": "You have this already."}
        codes = set(_PROBLEMS[self.method]) | ({404} if "{" in self.path else set())
        for code in sorted(codes):
            bodies[str(code)] = self._get_response_for_code(  # type: ignore[no-untyped-call]
                ProblemSerializer, str(code), media_types=["application/problem+json"]
            )
        return dict(sorted(bodies.items()))
