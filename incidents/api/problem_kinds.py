"""Every kind of error that the API answers with: its stable name, status and meaning.

The `type` of a problem (RFC 9457) is `/api/v1/problems/<code>`, where its meaning can be read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

#: What stands before a code in a problem's `type`.
TYPE_PREFIX = "/api/v1/problems/"


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """One kind of error. `code` never changes its meaning; `title` is the same every time."""

    code: str
    status: HTTPStatus
    title: str
    meaning: str

    @property
    def type(self) -> str:
        return f"{TYPE_PREFIX}{self.code}"


_KINDS = (
    ProblemKind(
        "malformed-body",
        HTTPStatus.BAD_REQUEST,
        "The body cannot be read",
        "The body is not what its Content-Type says, for instance broken JSON.",
    ),
    ProblemKind(
        "invalid-input",
        HTTPStatus.BAD_REQUEST,
        "A value cannot be taken",
        "`errors` names each value: `pointer` into the body, or `parameter` of the query.",
    ),
    ProblemKind(
        "invalid-cursor",
        HTTPStatus.BAD_REQUEST,
        "The cursor is not one of ours",
        "Follow `next` and `previous` as they are given, or start without a cursor.",
    ),
    ProblemKind(
        "upload-interrupted",
        HTTPStatus.BAD_REQUEST,
        "The upload ended early",
        "Fewer bytes arrived than Content-Length said. Nothing was kept; send the file again.",
    ),
    ProblemKind(
        "not-authenticated",
        HTTPStatus.UNAUTHORIZED,
        "Who are you?",
        "Send `Authorization: Bearer <token>`.",
    ),
    ProblemKind(
        "invalid-token",
        HTTPStatus.UNAUTHORIZED,
        "The token is not valid",
        "It is unknown, expired or revoked, or its owner is not active.",
    ),
    ProblemKind(
        "not-allowed",
        HTTPStatus.FORBIDDEN,
        "This needs another role or scope",
        "`detail` says which one.",
    ),
    ProblemKind(
        "not-found",
        HTTPStatus.NOT_FOUND,
        "There is nothing here",
        "No such address, or no such record.",
    ),
    ProblemKind(
        "blob-missing",
        HTTPStatus.NOT_FOUND,
        "The evidence store lost this file",
        "The record is there and its bytes are not; ask whoever runs this instance.",
    ),
    ProblemKind(
        "method-not-allowed",
        HTTPStatus.METHOD_NOT_ALLOWED,
        "This address does not take that method",
        "`Allow` names the methods it takes.",
    ),
    ProblemKind(
        "not-acceptable",
        HTTPStatus.NOT_ACCEPTABLE,
        "The answer is JSON",
        "`Accept` must allow application/json.",
    ),
    ProblemKind(
        "refused",
        HTTPStatus.CONFLICT,
        "This cannot be done now",
        "The record's state does not allow it; `detail` says why.",
    ),
    ProblemKind(
        "transition-refused",
        HTTPStatus.CONFLICT,
        "The status does not allow this step",
        "`detail` says which steps are possible.",
    ),
    ProblemKind(
        "destination-refused",
        HTTPStatus.CONFLICT,
        "This instance sends nothing there",
        "The address is private and its network is not allowed, or it is no web address.",
    ),
    ProblemKind(
        "seal-broken",
        HTTPStatus.CONFLICT,
        "A stored secret cannot be opened",
        "This instance's secret key was changed since it was stored. Set the secret anew.",
    ),
    ProblemKind(
        "merged",
        HTTPStatus.CONFLICT,
        "The incident is part of another one",
        "`merged_into` of the incident names it: go on there, or take this one out again.",
    ),
    ProblemKind(
        "too-many-isolations",
        HTTPStatus.CONFLICT,
        "Many hosts would be isolated at once",
        "Nothing was decided. `detail` says how many and why that is a question; send the same "
        "request with `confirm: true` (and a new Idempotency-Key) to go on.",
    ),
    ProblemKind(
        "hosts-in-service",
        HTTPStatus.CONFLICT,
        "Some of the hosts are in service",
        "Nothing was started. `detail` names the hosts that are not out of service and the jobs "
        "that run there; send the same request with `confirm: true` (and a new Idempotency-Key) to "
        "go on.",
    ),
    ProblemKind(
        "request-in-flight",
        HTTPStatus.CONFLICT,
        "The same request is being worked on",
        "Another request with this Idempotency-Key has not ended. Wait, then send it again.",
    ),
    ProblemKind(
        "length-required",
        HTTPStatus.LENGTH_REQUIRED,
        "Content-Length is missing",
        "This server does not take a body of unknown length.",
    ),
    ProblemKind(
        "stale-version",
        HTTPStatus.PRECONDITION_FAILED,
        "Someone else changed this in the meantime",
        "If-Match names a state that is not the present one. Read the record again.",
    ),
    ProblemKind(
        "body-too-large",
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "The body is too large",
        "`detail` says how much is taken.",
    ),
    ProblemKind(
        "evidence-too-large",
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "The file is too large",
        "`detail` says how much is taken. Nothing was kept.",
    ),
    ProblemKind(
        "unsupported-media-type",
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        "This kind of body is not taken here",
        "Records are taken as application/json, evidence as multipart/form-data or raw bytes.",
    ),
    ProblemKind(
        "idempotency-mismatch",
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "This Idempotency-Key was used for another request",
        "A key stands for one request with one body. Take a new key for a new request.",
    ),
    ProblemKind(
        "precondition-required",
        HTTPStatus.PRECONDITION_REQUIRED,
        "If-Match is missing",
        "Send the ETag of the state that you saw, or `*` to change whatever is there.",
    ),
    ProblemKind(
        "throttled",
        HTTPStatus.TOO_MANY_REQUESTS,
        "Too many requests",
        "`Retry-After` says how many seconds to wait.",
    ),
    ProblemKind(
        "internal-error",
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "Something broke on our side",
        "It was logged. The request may be sent again with the same Idempotency-Key.",
    ),
    ProblemKind(
        "unavailable",
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The database cannot be reached",
        "Nothing was kept. Send the request again; `Retry-After` says when.",
    ),
    ProblemKind(
        "storage-full",
        HTTPStatus.INSUFFICIENT_STORAGE,
        "The evidence store is full",
        "Nothing was kept; ask whoever runs this instance.",
    ),
)

PROBLEM_KINDS: Mapping[str, ProblemKind] = {kind.code: kind for kind in _KINDS}
