"""The program that opens untrusted Flight Recorder dumps, in a process of its own.

It is started with `python -I -S` and imports nothing but the standard library and its neighbours,
and numpy once so much was read that learning the entries' kinds (`flight_recorder_alike`) pays.
It limits its own memory and processor time, refuses every pickle that names anything to import,
and passes back plain columns. Per dump: chunks on stdin (u32 length each, 0 ends), then on stdout
one JSON header and one block of int64 columns (u32 length each).

Dumps: protocol 0–5 pickles or JSON of PyTorch's Flight Recorder, versions 2.0–2.11.
"""

import gc
import io
import json
import math
import pickle
import resource
import struct
import sys
import time
from typing import Any, BinaryIO, NoReturn

from diagnosis.readers.flight_recorder_plain import Refused, compact

LENGTH = struct.Struct("<I")
READ_AHEAD_BYTES = 64 * 1024
KNOWN_KEYS = ("entries", "pg_status", "pg_config", "version", "comm_lib_version", "nccl_version")


class PlainUnpickler(pickle.Unpickler):
    """Loads plain values only: whatever would be imported or looked up outside is refused."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise Refused(f"refused: the pickle asks to call {str(module)[:80]}.{str(name)[:80]}")

    def persistent_load(self, pid: object) -> NoReturn:
        raise Refused("refused: the pickle asks for an object outside itself (persistent id)")


def main() -> None:
    memory_bytes, learn_from, cpu_seconds, entries_max = map(int, sys.argv[-4:])
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    gc.disable()  # plain values in one large tree: collecting would only walk it again and again
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    reader = DumpReader(entries_max, learn_from)
    gc.freeze()
    while True:
        allow_processor_time(cpu_seconds)
        more = one_dump(source, sink, reader, memory_bytes >> 20)
        sink.flush()
        gc.collect()
        if not more:
            return


def allow_processor_time(seconds: int) -> None:
    """`seconds` more from here; the kernel ends the process when they are used up."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + seconds, hard))


class DumpReader:
    """Reads one dump after another: by unpickling, and by learning after `learn_from` bytes."""

    def __init__(self, entries_max: int, learn_from: int) -> None:
        self.entries_max = entries_max
        self.learn_from = learn_from
        self.bytes_read = 0
        self.learning: Any = None

    def read(self, content: bytes) -> tuple[dict[str, Any], bytes]:
        """The header and the columns. Raises `Refused`, and whatever hostile bytes provoke."""
        self.bytes_read += len(content)
        if self.bytes_read > self.learn_from and content[:1] == b"\x80":
            found = self.learned(content)
            if found is not None:
                return found
        return compact(load(content), self.entries_max)

    def learned(self, content: bytes) -> tuple[dict[str, Any], bytes] | None:
        """The same by learning; None for whatever is better unpickled, which then says why."""
        try:
            if self.learning is None:
                self.learning = learning_reader()
            return self.learning.read(content, self.entries_max)  # type: ignore[no-any-return]
        except Exception:  # noqa: BLE001 - hostile bytes provoke anything
            return None


def learning_reader() -> object:
    """The reader that needs numpy; what it loads is nothing to collect later."""
    from diagnosis.readers.flight_recorder_alike import LearningReader  # noqa: PLC0415

    gc.freeze()
    return LearningReader(load, memo_of)


def one_dump(source: BinaryIO, sink: BinaryIO, reader: DumpReader, memory_mb: int) -> bool:
    """Answer for one dump; False when the process should not take another."""
    try:
        content = read_chunks(source)
        if content is None:
            return False
        header, columns = reader.read(content)
    except Refused as error:
        answer(sink, {"error": str(error)}, b"")
    except MemoryError:
        reason = f"refused: needs more than the {memory_mb} MB allowed"
        answer(sink, {"error": reason, "leaves": True}, b"")
        return False
    except RecursionError:
        answer(sink, {"error": "refused: nested too deeply for a dump"}, b"")
    except Exception as error:  # noqa: BLE001 - whatever hostile bytes provoke is the answer
        answer(sink, {"error": f"damaged: {type(error).__name__}: {str(error)[:200]}"}, b"")
    else:
        answer(sink, header, columns)
    return True


def read_chunks(source: BinaryIO) -> bytes | None:
    """The bytes of the next dump; None at the end of all input."""
    chunks: list[bytes] = []
    while True:
        head = source.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack(head)
        if length == 0:
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)
        chunks.append(source.read(length))


def answer(sink: BinaryIO, header: dict[str, Any], columns: bytes) -> None:
    text = json.dumps(header).encode()
    sink.write(LENGTH.pack(len(text)) + text + LENGTH.pack(len(columns)))
    sink.write(columns)


def load(content: bytes) -> dict[Any, Any]:
    """The dump's top-level dictionary."""
    if not content:
        raise Refused("empty: the dump has no content (0 bytes)")
    loaded = load_pickle(content) if content[:1] == b"\x80" else load_text(content)
    if not isinstance(loaded, dict) or not any(key in loaded for key in KNOWN_KEYS):
        raise Refused("not a Flight Recorder dump: it has no 'entries', 'pg_status' or 'version'")
    return loaded


def load_pickle(content: bytes) -> Any:
    try:
        return PlainUnpickler(ahead(content)).load()
    except EOFError as error:
        raise Refused(truncated(content)) from error
    except (pickle.UnpicklingError, ValueError, IndexError, KeyError) as error:
        text = str(error)
        if "truncated" in text or "exhausted" in text or "unexpected end" in text:
            raise Refused(truncated(content)) from error
        if "extension" in text:
            raise Refused(f"refused: the pickle asks for a registered class ({text})") from error
        raise Refused(f"damaged: not a readable pickle ({text[:200]})") from error


def memo_of(content: bytes) -> dict[int, Any]:
    """The memo that a pickle leaves behind."""
    unpickler = PlainUnpickler(ahead(content))
    unpickler.load()
    memo: dict[int, Any] = unpickler.memo.copy()
    return memo


def ahead(content: bytes) -> io.BufferedReader:
    """The bytes as a stream that can be peeked at: the unpickler then reads in large pieces.

    From a plain `BytesIO` it asks for each opcode by a call of its own, which takes four times as
    long.
    """
    return io.BufferedReader(io.BytesIO(content), READ_AHEAD_BYTES)


def load_text(content: bytes) -> Any:
    """JSON, or a pickle of protocol 0 or 1, which has no magic first byte."""
    if content.lstrip()[:1] not in (b"{", b"["):
        return load_pickle(content)
    try:
        return json.loads(content)
    except UnicodeDecodeError as error:
        raise Refused(f"damaged: not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc.rstrip()) or "Unterminated" in error.msg:
            raise Refused(truncated(content)) from error
        raise Refused(f"damaged: not JSON at byte {error.pos}: {error.msg}") from error


def truncated(content: bytes) -> str:
    return f"truncated after {len(content)} bytes: the end of the dump is missing"
