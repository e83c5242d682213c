"""Loopback ports for tests that run side by side with other runs of the same tests."""

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager

# Below the range that the kernel hands out by itself; drawn by the system's own
# generator, since the seed of `random` is the same in every test of a run.
_RANGE = range(18_000, 32_768)
_DRAW = random.SystemRandom()


def free_port() -> int:
    """A port for a program that is about to start and can't pick one itself."""
    for port in _DRAW.sample(_RANGE, 200):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no free loopback port below 32768")


@contextmanager
def dead_port() -> Iterator[int]:
    """A port that refuses connections while the block lasts: taken, but not listened on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])
