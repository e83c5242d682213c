"""A TCP server that speaks NCCL RAS's protocol, and its JSON for a small job."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

#: The first answer to each command; what is not in it is an unknown command.
NEW_SERVER: Mapping[str, str] = {
    "CLIENT PROTOCOL 2": "SERVER PROTOCOL 2\n",
    "TIMEOUT 5": "OK\n",
    "SET FORMAT json": "OK\n",
}
OLD_SERVER = {name: line for name, line in NEW_SERVER.items() if name != "SET FORMAT json"}


class RasService:
    """The port that the service listens on and the commands that it was sent."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.commands: list[str] = []


@contextmanager
def ras_service(
    status: bytes,
    lines: Mapping[str, str] = NEW_SERVER,
    *,
    before_status: Callable[[], None] = lambda: None,
) -> Iterator[RasService]:
    """Answers commands by `lines` and `VERBOSE STATUS` by `status`, then hangs up."""
    listening = socket.create_server(("127.0.0.1", 0))
    service = RasService(listening.getsockname()[1])
    listening.settimeout(0.05)
    stopping = threading.Event()

    def serve() -> None:
        while not stopping.is_set():
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            with connection, suppress(OSError):
                _talk(connection, service, status, lines, before_status)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield service
    finally:
        stopping.set()
        thread.join()
        listening.close()


def _talk(
    connection: socket.socket,
    service: RasService,
    status: bytes,
    lines: Mapping[str, str],
    before_status: Callable[[], None],
) -> None:
    connection.settimeout(5)
    with connection.makefile("r", encoding="utf-8") as commands:
        for line in commands:
            command = line.rstrip("\n")
            service.commands.append(command)
            if command == "VERBOSE STATUS":
                before_status()
                connection.sendall(status)
                return
            answer = lines.get(command, f"ERROR: Unknown command {command}\n")
            connection.sendall(answer.encode())


def rank(number: int, host: str, device: int, launched: int, **more: object) -> dict[str, object]:
    """A rank that answered; `launched` all-reduces and one broadcast."""
    status = {"init_state": 0, "async_error": 0, "finalize_called": False}
    return {
        "rank": number,
        "host": host,
        "pid": 1000 + device,
        "cuda_dev": device,
        "nvml_dev": device,
        "status": {**status, "destroy_flag": False, "abort_flag": False},
        "collective_counts": {"Broadcast": 1, "AllReduce": launched},
        **more,
    }


def lost(number: int, host: str, device: int, *, dead: bool) -> dict[str, object]:
    """A rank that did not answer."""
    status = {"unresponsive": True, "considered_dead": dead}
    place = {"host": host, "pid": 1000 + device, "cuda_dev": device, "nvml_dev": device}
    return {"rank": number, **place, "status": status}


def answer(
    *communicators: tuple[str, Sequence[object], Sequence[object]], timeouts: int = 0
) -> bytes:
    """The whole JSON of communicators given by hash, ranks and lost ranks."""
    rows = [
        {
            "hash": name,
            "secondary_hash": "0x1:0x2",
            "size": len(ranks) + len(missing),
            "ranks_count": len(ranks),
            "missing_ranks_count": len(missing),
            "ranks": ranks,
            "missing_ranks": missing,
        }
        for name, ranks, missing in communicators
    ]
    return json.dumps(
        {
            "nccl_version": "2.29.2",
            "cuda_runtime_version": 13000,
            "cuda_driver_version": 13000,
            "timestamp": "2026-03-01 12:00:00",
            "communicators_count": len(rows),
            "communicators": rows,
            "ras": {"collection_time_sec": 0.01, "timeouts_count": timeouts},
        }
    ).encode()
