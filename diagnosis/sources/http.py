"""One bounded HTTP exchange: whole answer or a `SourceError`, never more bytes or seconds."""

import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from diagnosis.sources.errors import SourceError, SourceFailure, garbage


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """Status, body (decompressed) and the server's wish for a pause in seconds."""

    status: int
    body: bytes
    retry_after: float | None = None


def post_form(
    client: httpx.Client, path: str, form: Mapping[str, str], *, seconds: float, longest: int
) -> HttpAnswer:
    """POST a form and read the whole answer within `seconds` and `longest` bytes.

    Raises a passing `SourceError` for a server that is down, slow or breaks off, and a permanent
    one for TLS that fails or an answer that is too large.
    """
    end = time.monotonic() + seconds
    timeout = httpx.Timeout(seconds, connect=min(seconds, client.timeout.connect or seconds))
    try:
        with client.stream("POST", path, data=form, timeout=timeout) as response:
            body = _bounded_body(response, end, longest)
            return HttpAnswer(response.status_code, body, _retry_after(response))
    except httpx.TimeoutException as error:
        raise _slow(seconds) from error
    except httpx.DecodingError as error:
        raise garbage("the answer's compression is broken") from error
    except (httpx.LocalProtocolError, httpx.UnsupportedProtocol) as error:
        raise SourceError(
            "the request cannot be sent: an address, header or credential is malformed",
            failure=SourceFailure.WRONG_ADDRESS,
            permanent=True,
        ) from error
    except httpx.TransportError as error:
        raise _unreachable(error) from error


def _bounded_body(response: httpx.Response, end: float, longest: int) -> bytes:
    body = bytearray()
    for part in response.iter_bytes():
        body += part
        if len(body) > longest:
            raise SourceError(
                f"the answer is larger than {longest:,} bytes; ask for fewer hosts or samples",
                failure=SourceFailure.TOO_LARGE,
                permanent=True,
            )
        if time.monotonic() > end:
            raise httpx.ReadTimeout("the answer trickles", request=response.request)
    return bytes(body)


def _retry_after(response: httpx.Response) -> float | None:
    """`Retry-After` in seconds; its date form is not taken."""
    given = response.headers.get("retry-after", "").strip()
    return float(given) if given.isascii() and given.isdigit() else None


def _slow(seconds: float) -> SourceError:
    return SourceError(
        f"no whole answer within {seconds:.3g} s", failure=SourceFailure.SLOW, permanent=False
    )


def _unreachable(error: httpx.TransportError) -> SourceError:
    if _is_certificate_error(error):
        return SourceError(
            f"the server's certificate is not accepted: {error}",
            failure=SourceFailure.TLS,
            permanent=True,
        )
    return SourceError(
        f"the server cannot be reached: {error or type(error).__name__}",
        failure=SourceFailure.UNREACHABLE,
        permanent=False,
    )


def _is_certificate_error(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
