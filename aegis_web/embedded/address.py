"""Where the embedded set-up listens, and by which names people and it itself find it there."""

import socket

#: Listens at every address of the machine.
EVERYWHERE = "0.0.0.0"  # noqa: S104 - compared with what someone chose
_ITSELF = "127.0.0.1"


def name_of(host: str) -> str:
    """What others call the machine, where it listens everywhere; else where it listens."""
    return socket.gethostname() if host == EVERYWHERE else host


def local(host: str) -> str:
    """The address at which the instance reaches itself."""
    return _ITSELF if host == EVERYWHERE else host
