"""A local HTTP server that answers as a test says: the bad days of a metric server."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

#: Takes the request's handler and its form; answers by writing to the handler.
Behaviour = Callable[[BaseHTTPRequestHandler, dict[str, str]], None]


class FakeServer:
    """The server's URL and the forms it was asked with, in order."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[dict[str, str]] = []
        self.authorizations: list[str | None] = []


@contextmanager
def fake_server(behave: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[FakeServer]:
    server = FakeServer()

    class QuietServer(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            pass  # a client that hangs up is what some tests are about

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            server.asked.append(form)
            server.authorizations.append(self.headers.get("Authorization"))
            behave(self, form)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - theirs
            pass

    http = QuietServer(("127.0.0.1", 0), Handler)
    server.url = f"http{'s' if tls else ''}://127.0.0.1:{http.server_port}"
    http.daemon_threads = False
    if tls is not None:
        http.socket = tls.wrap_socket(http.socket, server_side=True)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def answers(status: int, body: bytes | str, **headers: str) -> Behaviour:
    """The same answer to everything."""
    content = body.encode() if isinstance(body, str) else body

    def behave(handler: BaseHTTPRequestHandler, _: dict[str, str]) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return behave


def breaks_off(body: bytes, *, promised: int) -> Behaviour:
    """Promises more bytes than it sends, and hangs up."""

    def behave(handler: BaseHTTPRequestHandler, _: dict[str, str]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(promised))
        handler.end_headers()
        handler.wfile.write(body)
        handler.close_connection = True

    return behave


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Each behaviour once; the last one for ever after."""
    left = list(behaviours)

    def behave(handler: BaseHTTPRequestHandler, form: dict[str, str]) -> None:
        now = left.pop(0) if len(left) > 1 else left[0]
        now(handler, form)

    return behave


def matrix(*series: tuple[dict[str, str], list[list[object]]], **more: object) -> str:
    """A successful answer with these series."""
    result = [{"metric": labels, "values": values} for labels, values in series]
    data = {"resultType": "matrix", "result": result}
    return json.dumps({"status": "success", "data": data, **more})
