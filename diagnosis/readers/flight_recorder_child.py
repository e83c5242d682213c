"""The program that opens untrusted Flight Recorder dumps, in a process of its own.

It is started as a script with `python -I -S` and imports the standard library only. It limits its
own memory and processor time, refuses every pickle that names anything to import, and passes back
plain columns. Per dump: chunks on stdin (u32 length each, 0 ends), then on stdout one JSON header
and one block of int64 columns (u32 length each).

Dumps: protocol 0–5 pickles or JSON of PyTorch's Flight Recorder, versions 2.0–2.11.
"""

import array
import io
import json
import math
import pickle
import resource
import struct
import sys
import time
from typing import Any, BinaryIO, NoReturn

LENGTH = struct.Struct("<I")
COLUMNS = (
    "record_id", "group", "pg_id", "seq", "p2p_seq", "call", "backend", "state", "retired",
    "is_p2p", "peer", "created_ns", "started_ns", "completed_ns", "duration_us", "timeout_ms",
    "stack",
)  # fmt: skip
STATES = {"scheduled": 0, "started": 1, "completed": 2}
KNOWN_KEYS = ("entries", "pg_status", "pg_config", "version", "comm_lib_version", "nccl_version")
TEXT_MAX = 512
FRAMES_MAX = 32
TENSORS_MAX = 4096
DIMENSIONS_MAX = 64
GROUPS_MAX = 65_536


class Refused(Exception):  # noqa: N818 - named for what the person reads
    """The dump cannot be taken; the message says why."""


class PlainUnpickler(pickle.Unpickler):
    """Loads plain values only: whatever would be imported or looked up outside is refused."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise Refused(f"refused: the pickle asks to call {str(module)[:80]}.{str(name)[:80]}")

    def persistent_load(self, pid: object) -> NoReturn:
        raise Refused("refused: the pickle asks for an object outside itself (persistent id)")


def main() -> None:
    memory_bytes, cpu_seconds, entries_max = (int(value) for value in sys.argv[1:4])
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        allow_processor_time(cpu_seconds)
        more = one_dump(source, sink, entries_max, memory_bytes >> 20)
        sink.flush()
        if not more:
            return


def allow_processor_time(seconds: int) -> None:
    """`seconds` more from here; the kernel ends the process when they are used up."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + seconds, hard))


def one_dump(source: BinaryIO, sink: BinaryIO, entries_max: int, memory_mb: int) -> bool:
    """Answer for one dump; False when the process should not take another."""
    try:
        content = read_chunks(source)
        if content is None:
            return False
        header, columns = compact(load(content), entries_max)
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
    content = io.BytesIO()
    while True:
        head = source.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack(head)
        if length == 0:
            return content.getvalue()
        content.write(source.read(length))


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
        return PlainUnpickler(io.BytesIO(content)).load()
    except EOFError as error:
        raise Refused(truncated(content)) from error
    except (pickle.UnpicklingError, ValueError, IndexError, KeyError) as error:
        text = str(error)
        if "truncated" in text or "exhausted" in text or "unexpected end" in text:
            raise Refused(truncated(content)) from error
        if "extension" in text:
            raise Refused(f"refused: the pickle asks for a registered class ({text})") from error
        raise Refused(f"damaged: not a readable pickle ({text[:200]})") from error


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


def compact(dump: dict[Any, Any], entries_max: int) -> tuple[dict[str, Any], bytes]:
    """The header (plain tables) and the columns of a loaded dump."""
    entries = dump.get("entries") or []
    if not isinstance(entries, list | tuple):
        raise Refused("damaged: 'entries' is not a list")
    if len(entries) > entries_max:
        raise Refused(f"refused: {len(entries)} entries, more than the {entries_max} allowed")
    tables = Tables()
    rows = [tables.row(number, entry) for number, entry in enumerate(entries)]
    columns = array.array("q")
    try:
        for column in zip(*rows, strict=True):
            columns.extend(column)
    except (OverflowError, TypeError) as error:
        raise Refused("damaged: an entry holds a number that is no 64-bit integer") from error
    header = {
        "version": text(dump.get("version")),
        "library": text(dump.get("comm_lib_version") or dump.get("nccl_version")),
        "rank": whole(dump.get("rank", dump.get("global_rank")), None),
        "host": text(dump.get("hostname") or dump.get("host")),
        "groups": groups(dump.get("pg_config")),
        "status": status(dump.get("pg_status")),
        "rows": len(rows),
        **tables.header(),
    }
    return header, columns.tobytes()


class Tables:
    """What entries share (names, calls, stacks), each kept once and pointed at by number."""

    def __init__(self) -> None:
        self.group_names: dict[Any, int] = {}
        self.calls: dict[Any, int] = {}
        self.backends: dict[Any, int] = {}
        self.stacks: dict[Any, int] = {}
        self.names: dict[str, tuple[str, str, int]] = {}
        self.known_stacks: dict[int, int] = {}

    def header(self) -> dict[str, Any]:
        return {
            "group_names": list(self.group_names),
            "calls": list(self.calls),
            "backends": list(self.backends),
            "stacks": list(self.stacks),
        }

    def row(self, number: int, entry: Any) -> tuple[int, ...]:
        if not isinstance(entry, dict):
            raise Refused(f"damaged: entry {number} is not a dictionary")
        get = entry.get
        pg_id = whole(get("pg_id"), -1)
        backend, op, peer = self.named(text(get("profiling_name")))
        duration = get("duration_ms")
        return (
            whole(get("record_id"), number),
            index(self.group_names, group_name(get("process_group"), pg_id)),
            pg_id,
            whole(get("collective_seq_id", get("seq_id")), -1),
            whole(get("p2p_seq_id"), 0),
            index(self.calls, call(op, entry)),
            index(self.backends, backend),
            STATES.get(text(get("state")), 0),
            1 if get("retired") else 0,
            1 if get("is_p2p") or peer >= 0 else 0,
            peer,
            whole(get("time_created_ns"), 0),
            whole(get("time_discovered_started_ns"), 0),
            whole(get("time_discovered_completed_ns"), 0),
            int(duration * 1000) if isinstance(duration, int | float) and duration > 0 else -1,
            whole(get("timeout_ms"), 0),
            self.stack(get("frames")),
        )

    def named(self, profiling_name: str) -> tuple[str, str, int]:
        """`<backend>:<op>[ a->b| a<-b]` as (backend, op, other end's rank in the group or -1)."""
        known = self.names.get(profiling_name)
        if known is None:
            backend, found, rest = profiling_name.rpartition(":")
            op, _, ends = (rest if found else profiling_name).partition(" ")
            other = ends.replace("<-", " ").replace("->", " ").split()
            peer = int(other[1]) if len(other) == 2 and other[1].isdecimal() else -1
            known = self.names[profiling_name] = (backend, op, peer)
        return known

    def stack(self, frames: Any) -> int:
        if not isinstance(frames, list | tuple) or not frames:
            return -1
        known = self.known_stacks.get(id(frames))
        if known is None:
            lines = tuple(
                (text(f.get("name")), text(f.get("filename")), whole(f.get("line"), 0))
                for f in frames[:FRAMES_MAX]
                if isinstance(f, dict)
            )
            known = self.known_stacks[id(frames)] = index(self.stacks, lines)
        return known


def index(table: dict[Any, int], value: Any) -> int:
    return table.setdefault(value, len(table))


def group_name(value: Any, pg_id: int) -> tuple[str, str]:
    if isinstance(value, list | tuple) and len(value) >= 2:
        return (text(value[0]), text(value[1]))
    return (text(value) or str(pg_id), "")


def call(op: str, entry: dict[Any, Any]) -> tuple[Any, ...]:
    return (
        op,
        sizes(entry.get("input_sizes")),
        sizes(entry.get("output_sizes")),
        dtypes(entry.get("input_dtypes")),
        dtypes(entry.get("output_dtypes")),
    )


def sizes(value: Any) -> tuple[tuple[int, ...], ...]:
    if not isinstance(value, list | tuple):
        return ()
    if len(value) > TENSORS_MAX:
        raise Refused(f"refused: an entry names more than {TENSORS_MAX} tensors")
    shapes = []
    for shape in value:
        dimensions = shape if isinstance(shape, list | tuple) else (shape,)
        if len(dimensions) > DIMENSIONS_MAX:
            raise Refused(f"refused: a tensor has more than {DIMENSIONS_MAX} dimensions")
        shapes.append(tuple(whole(size, -1) for size in dimensions))
    return tuple(shapes)


def dtypes(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        return ()
    return tuple(text(name) for name in value[:TENSORS_MAX])


def groups(config: Any) -> list[list[Any]]:
    """`pg_config` as [[name, desc, [ranks]], …]; the ranks are a string in most versions."""
    if not isinstance(config, dict):
        return []
    if len(config) > GROUPS_MAX:
        raise Refused(f"refused: more than {GROUPS_MAX} process groups")
    found = []
    for name, group in config.items():
        if isinstance(group, dict):
            found.append([text(name), text(group.get("desc")), group_ranks(group.get("ranks"))])
    return found


def group_ranks(value: Any) -> list[int]:
    if isinstance(value, str):
        return [int(part) for part in value.strip("[] \n").split(",") if part.strip().isdecimal()]
    if isinstance(value, list | tuple):
        return [rank for rank in value if isinstance(rank, int)]
    return []


def status(value: Any) -> list[list[int]]:
    """`pg_status` as [[pg_id, enqueued, started, completed], …]; JSON dumps write text numbers."""
    if not isinstance(value, dict):
        return []
    names = ("last_enqueued_collective", "last_started_collective", "last_completed_collective")
    return [
        [int(key), *(whole(counters.get(name), -1) for name in names)]
        for key, counters in value.items()
        if isinstance(counters, dict) and str(key).lstrip("-").isdecimal()
    ]


def text(value: Any) -> str:
    return value[:TEXT_MAX] if isinstance(value, str) else ""


def whole(value: Any, otherwise: Any) -> Any:
    """A whole number, also where it is written as text; `otherwise` for anything else."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 20:
        return int(value)
    return otherwise


if __name__ == "__main__":
    main()
