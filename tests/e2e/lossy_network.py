"""A network between a client and a server that can be cut, or lose what the server answers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from socketserver import BaseRequestHandler, ThreadingTCPServer

_PIECE = 65536
_PATIENCE_S = 20.0


class Weather(Enum):
    """What the network does with a new connection."""

    FAIR = "passes both ways"
    CUT = "ends it at once"
    LOSES_ANSWERS = "ends it before the answer where the request is for `losing`"


@dataclass
class Network:
    """Passes connections on to `target`; `lost` counts the answers that it swallowed."""

    target: tuple[str, int]
    losing: bytes = b""
    weather: Weather = Weather.FAIR
    port: int = 0
    lost: int = 0


class _Passing(BaseRequestHandler):
    request: socket.socket

    def handle(self) -> None:
        network: Network = self.server.network  # type: ignore[attr-defined]
        if network.weather is Weather.CUT:
            return
        with socket.create_connection(network.target, _PATIENCE_S) as beyond:
            asked = self.request.recv(_PIECE)
            beyond.sendall(asked)
            up = threading.Thread(target=_pass, args=(self.request, beyond), daemon=True)
            up.start()
            answer = beyond.recv(_PIECE)
            concerned = network.losing in asked.partition(b"\r\n")[0]
            if network.weather is Weather.LOSES_ANSWERS and concerned:
                network.lost += 1
                return
            self.request.sendall(answer)
            _pass(beyond, self.request)


def _pass(source: socket.socket, sink: socket.socket) -> None:
    try:
        while piece := source.recv(_PIECE):
            sink.sendall(piece)
    except OSError:
        return


class _Server(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


@contextmanager
def network_to(host: str, port: int, *, losing: bytes) -> Iterator[Network]:
    """A network to a server on this machine, fair at first."""
    network = Network((host, port), losing)
    with _Server(("127.0.0.1", 0), _Passing) as server:
        server.network = network  # type: ignore[attr-defined]
        network.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield network
        server.shutdown()
        thread.join()
