"""A child process that opens untrusted bytes, so that nothing they do reaches this process.

`subprocess` and not `multiprocessing`: Celery's prefork workers are daemonic and may not fork
through the latter. The child limits itself (see `flight_recorder_child`); from here it is bounded
in time and in the size of its answer, and it is replaced whenever it dies.
"""

import fcntl
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np
import orjson

from diagnosis.core.evidence import Evidence
from diagnosis.readers.errors import UnreadableEvidence

_LENGTH = struct.Struct("<I")
_CHUNK_BYTES = 4 * 1024 * 1024
_PIPE_BYTES = 1024 * 1024
_ROOT = Path(__file__).parents[2]
_PACKAGES = Path(np.__file__).parents[1]
#: `-I -S` leaves the child without any path of ours: it gets the project's root, where numpy is,
#: and its module.
_START = (
    "import sys; sys.path += sys.argv[1:3]; from importlib import import_module; "
    "import_module(sys.argv[3]).main()"
)
#: numpy's own threads would only take memory from the child.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What reading one dump may take before it is refused.

    `memory_mb` bounds the child's address space (the file's own bytes included), `cpu_seconds`
    its processor time and `wall_seconds` its patience; `file_mb` and `answer_mb` bound what goes
    in and comes out, `entries` the operations in one dump (a default ring holds 2,000). After
    `learn_from_mb` the child learns the kinds of entries: to load what that needs takes as long
    as unpickling so much.
    """

    memory_mb: int = 512
    cpu_seconds: int = 20
    wall_seconds: float = 60.0
    file_mb: int = 128
    answer_mb: int = 64
    entries: int = 200_000
    learn_from_mb: int = 16


@dataclass(frozen=True, slots=True)
class Answer:
    """What the child passes back: a plain header and a block of int64 columns."""

    header: dict[str, object]
    columns: bytes


class _DiedError(Exception):
    """The child went away in the middle of a dump."""


class ChildReader:
    """Reads many pieces of evidence through one child, and through a new one after a death."""

    def __init__(self, module: str, limits: ChildLimits) -> None:
        self._module = module
        self._limits = limits
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def read(self, evidence: Evidence) -> Answer:
        """What the child makes of the evidence.

        Raises `UnreadableEvidence` with the reason when it refuses, dies or takes too long.
        """
        if evidence.size > self._limits.file_mb << 20:
            raise UnreadableEvidence(f"refused: larger than the {self._limits.file_mb} MB allowed")
        child = self._started()
        late = threading.Event()
        timer = threading.Timer(self._limits.wall_seconds, _end_late, (child, late))
        timer.start()
        try:
            self._send(child, evidence)
            answer = self._received(child)
        except (_DiedError, BrokenPipeError) as error:
            raise UnreadableEvidence(self._cause_of_death(child, late.is_set())) from error
        except BaseException:
            self._stop()
            raise
        finally:
            timer.cancel()
        if answer.header.get("leaves"):
            self._stop()
        if problem := answer.header.get("error"):
            raise UnreadableEvidence(str(problem))
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self._stop()
            limits = self._limits
            sizes = (limits.memory_mb << 20, limits.learn_from_mb << 20)
            numbers = (*sizes, limits.cpu_seconds, limits.entries)
            program = ("-c", _START, str(_ROOT), str(_PACKAGES), self._module)
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", *program, *map(str, numbers)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT,
            )
            for pipe in (self._child.stdin, self._child.stdout):
                _widen(_pipe(pipe))
        return self._child

    def _send(self, child: subprocess.Popen[bytes], evidence: Evidence) -> None:
        stdin = _pipe(child.stdin)
        for chunk in _chunks(evidence, self._limits.file_mb):
            stdin.write(_LENGTH.pack(len(chunk)))
            stdin.write(chunk)
        stdin.write(_LENGTH.pack(0))
        stdin.flush()

    def _received(self, child: subprocess.Popen[bytes]) -> Answer:
        header = orjson.loads(self._block(child))
        return Answer(header=header, columns=self._block(child))

    def _block(self, child: subprocess.Popen[bytes]) -> bytes:
        (length,) = _LENGTH.unpack(_exactly(child, _LENGTH.size))
        if length > self._limits.answer_mb << 20:
            raise UnreadableEvidence(
                f"refused: what it holds takes more than {self._limits.answer_mb} MB"
            )
        return _exactly(child, length)

    def _cause_of_death(self, child: subprocess.Popen[bytes], late: bool) -> str:
        self._stop()
        if late:
            return f"refused: reading it took longer than {self._limits.wall_seconds:g} s"
        if child.returncode == -signal.SIGXCPU:
            return f"refused: needs more than {self._limits.cpu_seconds} s of processor time"
        if child.returncode < 0:
            name = signal.Signals(-child.returncode).name
            return f"refused: reading it killed the reader process ({name})"
        return f"refused: the reader process gave up on it (exit {child.returncode})"

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        for pipe in (child.stdin, child.stdout):
            try:
                _pipe(pipe).close()
            except BrokenPipeError:
                continue
        try:
            child.wait(timeout=1)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _end_late(child: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    child.kill()


def _widen(pipe: IO[bytes]) -> None:
    """Room for a whole usual dump, so that both ends need not take turns; best effort."""
    try:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except OSError:
        return


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise _DiedError
    return pipe


def _exactly(child: subprocess.Popen[bytes], length: int) -> bytes:
    block = _pipe(child.stdout).read(length)
    if len(block) < length:
        raise _DiedError
    return block


def _chunks(evidence: Evidence, file_mb: int) -> Iterator[bytes]:
    """The evidence piece by piece; a stream that outgrows its limit is refused on the way."""
    total = 0
    with evidence.open() as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            total += len(chunk)
            if total > file_mb << 20:
                raise UnreadableEvidence(f"refused: larger than the {file_mb} MB allowed")
            yield chunk
