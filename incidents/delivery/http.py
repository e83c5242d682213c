"""One POST to a checked destination: pinned address, no redirect, no proxy, a hard time limit."""

import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import httpcore

from incidents.delivery.address import Destination

#: How much of an answer is kept in the log.
ANSWER_BYTES = 4096
_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint said. `headers` has lower-case names."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class UnreachableError(OSError):
    """No whole answer came in time; the message is for the delivery log."""


def post(
    destination: Destination, *, body: bytes, headers: Mapping[str, str], seconds: float
) -> Answer:
    """The answer to one POST. Raises `UnreachableError`."""
    return request("POST", destination, body=body, headers=headers, seconds=seconds)


def request(
    method: str,
    destination: Destination,
    *,
    body: bytes = b"",
    headers: Mapping[str, str],
    seconds: float,
    answer_bytes: int = ANSWER_BYTES,
) -> Answer:
    """The answer to one request, its beginning. Raises `UnreachableError`."""
    deadline = time.monotonic() + seconds
    url = httpcore.URL(
        scheme=destination.scheme,
        host=destination.host,
        port=destination.port,
        target=destination.target,
    )
    given: dict[bytes | str, bytes | str] = {"Host": destination.authority, "Connection": "close"}
    given.update(headers.items())
    if body:
        given["Content-Length"] = str(len(body))
    backend = _Pinned(destination.address, deadline)
    # Reading the system's certificates takes longer than many an answer.
    checked = ssl.create_default_context() if destination.scheme == "https" else None
    try:
        with (
            httpcore.ConnectionPool(ssl_context=checked, network_backend=backend) as pool,
            pool.stream(method, url, headers=given, content=body) as response,
        ):
            text = _beginning(response, deadline, answer_bytes)
            named = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in response.headers}
            return Answer(response.status, named, text)
    except httpcore.TimeoutException as error:
        raise UnreachableError(f"No answer within {seconds:g} seconds.") from error
    except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError, OSError) as error:
        raise UnreachableError(f"{type(error).__name__}: {error}") from error


def _beginning(response: httpcore.Response, deadline: float, most: int) -> str:
    content = b""
    for chunk in response.iter_stream():
        content += chunk
        if len(content) >= most or time.monotonic() > deadline:
            break
    return content[:most].decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")


class _Timed(httpcore.NetworkStream):
    """A connection whose every step ends at one deadline: an answer must not come in drops."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream, self._deadline = stream, deadline

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        inner = self._stream.start_tls(ssl_context, server_hostname, self._left())
        return _Timed(inner, self._deadline)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class _Pinned(httpcore.NetworkBackend):
    """Connects to one address, whatever host is asked for; TLS still checks the host's name."""

    def __init__(self, address: str, deadline: float) -> None:
        self._address, self._deadline = address, deadline
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        left = min(max(self._deadline - time.monotonic(), 0.001), _CONNECT_SECONDS)
        stream = self._inner.connect_tcp(self._address, port, left, local_address, socket_options)
        return _Timed(stream, self._deadline)
