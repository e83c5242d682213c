"""Real web servers that receive what Aegis sends, and answer as a test tells them to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Received:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """What to answer: after `delay` seconds, or in drops of a byte a `drip` seconds."""

    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    delay: float = 0.0
    drip: float = 0.0


Answering = Callable[[Received], Reply]


@dataclass
class Receiver:
    """A server on a loopback port. `replies` are used up in order; afterwards all is well."""

    url: str
    replies: list[Reply] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    answering: Answering | None = None

    def reply_to(self, request: Received) -> Reply:
        self.received.append(request)
        if self.answering is not None:
            return self.answering(request)
        return self.replies.pop(0) if self.replies else Reply()


@contextmanager
def receiver(*replies: Reply, answering: Answering | None = None) -> Iterator[Receiver]:
    """A running receiver; gone when the block ends."""
    made = Receiver("", list(replies), answering=answering)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(made))
    made.url = f"http://127.0.0.1:{server.server_port}"
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


def _handler_of(made: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = made.reply_to(Received(self.command, self.path, headers, body))
            time.sleep(reply.delay)
            try:
                self._send(reply)
            except OSError:
                self.close_connection = True  # the other side had enough

        def _send(self, reply: Reply) -> None:
            if reply.drip:
                for letter in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 1000:
                    self.wfile.write(bytes([letter]))
                    time.sleep(reply.drip)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_POST = do_GET = do_PUT = do_PATCH = _answer  # noqa: N815 - so it is called by the server

        def log_message(self, *args: Any) -> None:
            """Nothing: tests look at what was received."""

    return Handler
