"""The error of every outside source. It carries the decision: ask again later, or never so."""

from enum import StrEnum


class SourceFailure(StrEnum):
    """What went wrong, in words that a page can show."""

    UNREACHABLE = "unreachable"
    SLOW = "slow"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server-error"
    GARBAGE = "garbage"
    TOO_LARGE = "too-large"
    OUT_OF_TIME = "out-of-time"
    REJECTED = "rejected"
    FORBIDDEN = "forbidden"
    WRONG_ADDRESS = "wrong-address"
    TLS = "tls"


#: Failures of the connection as a whole: no other question will fare better.
WHOLE_SOURCE = frozenset({SourceFailure.FORBIDDEN, SourceFailure.WRONG_ADDRESS, SourceFailure.TLS})


class SourceError(Exception):
    """A question that got no answer.

    `permanent` is True where asking again cannot help until a person changes something (the
    address, a credential, the question); False where the same question may be answered later.
    `retry_after` is the server's own wish in seconds.
    """

    def __init__(
        self,
        message: str,
        *,
        failure: SourceFailure,
        permanent: bool,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.permanent = permanent
        self.status = status
        self.retry_after = retry_after

    @property
    def whole_source(self) -> bool:
        """True where every other question to this source would fail alike."""
        return self.failure in WHOLE_SOURCE


def garbage(message: str) -> SourceError:
    """An answer that is not what the protocol says: passing, a proxy or a half-dead server."""
    return SourceError(message, failure=SourceFailure.GARBAGE, permanent=False)


def error_of_status(status: int, message: str, *, retry_after: float | None = None) -> SourceError:
    """The error that an HTTP status stands for.

    408, 429 and 5xx pass; 3xx and other 4xx are permanent.
    """
    if status in {401, 403, 407}:
        failure = SourceFailure.FORBIDDEN
    elif status in {404, 405, 410} or 300 <= status < 400:
        failure = SourceFailure.WRONG_ADDRESS
    elif status in {408, 504}:
        failure = SourceFailure.SLOW
    elif status in {429, 503}:
        failure = SourceFailure.OVERLOADED
    elif status >= 500:
        failure = SourceFailure.SERVER_ERROR
    else:
        failure = SourceFailure.REJECTED
    return SourceError(
        message,
        failure=failure,
        permanent=status < 500 and status not in {408, 429},
        status=status,
        retry_after=retry_after,
    )
