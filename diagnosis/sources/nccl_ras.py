"""Poller of NCCL's RAS service over TCP (NCCL 2.24 on, src/ras/client_support.cc).

Any process of a job answers for all of it. The service closes the connection after an answer.
"""

import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass

from diagnosis.core.ras import RasStatus
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.nccl_ras_json import read_ras_json
from diagnosis.readers.nccl_ras_text import read_ras_text
from diagnosis.sources.errors import SourceError, SourceFailure, garbage
from diagnosis.sources.retry import Budget

#: `NCCL_RAS_ADDR` of the job moves it.
RAS_PORT = 28028
_LONGEST_LINE = 4096


@dataclass(frozen=True, slots=True)
class RasSettings:
    """Times in seconds, size in bytes.

    `collect_timeout` is what the service itself grants the job's processes to answer it; the whole
    poll ends after `answer_timeout`. 16,384 ranks in ten communicators take about 100 MB of JSON.
    """

    connect_timeout: float = 3.0
    collect_timeout: float = 5.0
    answer_timeout: float = 30.0
    longest_answer: int = 256 * 1024**2


@dataclass(frozen=True, slots=True)
class RasAnswer:
    """The answer as it came, evidence of its own, and the status in it.

    Before NCCL 2.28.7 there is only text (`as_text`), which tells of communicators whose ranks
    differ and of lost processes, and of nothing else.
    """

    host: str
    body: bytes
    status: RasStatus
    as_text: bool = False


def poll_first(
    hosts: Iterable[str],
    budget: Budget,
    *,
    port: int = RAS_PORT,
    settings: RasSettings | None = None,
) -> RasAnswer:
    """The answer of the first host that gives one.

    Raises the last host's `SourceError` where none does; a passing one where none was asked.
    """
    last = SourceError("no host to ask", failure=SourceFailure.UNREACHABLE, permanent=False)
    for host in hosts:
        try:
            return poll(host, budget, port=port, settings=settings)
        except SourceError as error:
            if error.failure is SourceFailure.OUT_OF_TIME:
                raise
            last = error
    raise last


def poll(
    host: str, budget: Budget, *, port: int = RAS_PORT, settings: RasSettings | None = None
) -> RasAnswer:
    """One status of the job that listens on `host`. Raises `SourceError`.

    Every failure passes, since the service comes and goes with its job, except for an answer that
    is too large.
    """
    limits = settings or RasSettings()
    seconds = min(limits.answer_timeout, budget.require())
    try:
        with _Conversation(host, port, seconds, limits) as talk:
            as_json = talk.set_up()
            body = talk.ask("VERBOSE STATUS")
    except TimeoutError as error:
        raise SourceError(
            f"RAS on {host}: no whole answer within {seconds:.3g} s",
            failure=SourceFailure.SLOW,
            permanent=False,
        ) from error
    except (OSError, UnicodeError) as error:
        raise SourceError(
            f"RAS on {host} cannot be reached: {error}",
            failure=SourceFailure.UNREACHABLE,
            permanent=False,
        ) from error
    read = read_ras_json if as_json else read_ras_text
    try:
        return RasAnswer(host, body, read(body), as_text=not as_json)
    except UnreadableEvidence as error:
        raise garbage(f"RAS on {host}: {error}") from error


class _Conversation:
    """One connection under a deadline: commands out, lines and the last answer in."""

    def __init__(self, host: str, port: int, seconds: float, limits: RasSettings) -> None:
        self._host, self._limits = host, limits
        self._end = time.monotonic() + seconds
        connecting = min(seconds, limits.connect_timeout)
        self._socket = socket.create_connection((host, port), timeout=connecting)
        self._read = bytearray()

    def __enter__(self) -> "_Conversation":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def set_up(self) -> bool:
        """Greet and set time and format. True where the service will answer in JSON."""
        greeting = self._command("CLIENT PROTOCOL 2")
        if not greeting.startswith("SERVER PROTOCOL"):
            raise garbage(f"who listens on {self._host} is not NCCL RAS: {greeting[:80]!r}")
        self._command(f"TIMEOUT {self._limits.collect_timeout:g}")
        return self._command("SET FORMAT json") == "OK"

    def ask(self, command: str) -> bytes:
        """All that comes until the service closes the connection."""
        self._send(command)
        while self._receive():
            if len(self._read) > self._limits.longest_answer:
                raise SourceError(
                    f"RAS on {self._host} answers more than {self._limits.longest_answer:,} bytes",
                    failure=SourceFailure.TOO_LARGE,
                    permanent=True,
                )
        return bytes(self._read)

    def _command(self, command: str) -> str:
        """Send a command and take the one line that answers it; empty where it hangs up."""
        self._send(command)
        while b"\n" not in self._read:
            if len(self._read) > _LONGEST_LINE:
                raise garbage(f"who listens on {self._host} is not NCCL RAS: no line ends")
            if not self._receive():
                break
        line, _, rest = bytes(self._read).partition(b"\n")
        self._read[:] = rest
        return line.decode("utf-8", "replace").strip()

    def _send(self, command: str) -> None:
        self._arm()
        self._socket.sendall(f"{command}\n".encode())

    def _receive(self) -> bool:
        self._arm()
        part = self._socket.recv(256 * 1024)
        self._read += part
        return bool(part)

    def _arm(self) -> None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
