"""Plain columns from a loaded Flight Recorder dump, whatever it holds.

Runs in the child process (standard library only). Nothing is trusted: every value is checked or
replaced, every list is bounded, nested values are never walked beyond the known shape.
"""

import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

COLUMNS = (
    "record_id", "group", "pg_id", "seq", "p2p_seq", "call", "backend", "state", "retired",
    "is_p2p", "peer", "created_ns", "started_ns", "completed_ns", "duration_us", "timeout_ms",
    "stack",
)  # fmt: skip
STATES = {"scheduled": 0, "started": 1, "completed": 2}
TEXT_MAX = 512
FRAMES_MAX = 32
TENSORS_MAX = 4096
DIMENSIONS_MAX = 64
GROUPS_MAX = 65_536


class Refused(Exception):  # noqa: N818 - named for what the person reads
    """The dump cannot be taken; the message says why."""


def compact(dump: dict[Any, Any], entries_max: int) -> tuple[dict[str, Any], bytes]:
    """The header (plain tables) and the columns of a loaded dump."""
    entries = dump.get("entries") or []
    if not isinstance(entries, list | tuple):
        raise Refused("damaged: 'entries' is not a list")
    if len(entries) > entries_max:
        raise Refused(f"refused: {len(entries)} entries, more than the {entries_max} allowed")
    if not all(isinstance(entry, dict) for entry in entries):
        raise Refused("damaged: an entry is not a dictionary")
    tables = Tables()
    columns = array.array("q")
    try:
        for column in tables.columns(entries):
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
        "rows": len(entries),
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
        self.known_groups: dict[Any, int] = {}
        self.known_calls: dict[Any, int] = {}
        self.known_stacks: dict[int, int] = {}

    def header(self) -> dict[str, Any]:
        return {
            "group_names": list(self.group_names),
            "calls": list(self.calls),
            "backends": list(self.backends),
            "stacks": list(self.stacks),
        }

    def columns(self, entries: Sequence[dict[Any, Any]]) -> Iterator[Iterable[int]]:
        """The columns in the order of `COLUMNS`."""
        pg_ids = whole_column(entries, "pg_id", -1)
        names = [self.named(entry.get("profiling_name")) for entry in entries]
        yield whole_column(entries, "record_id", 0)
        yield [self.group(e.get("process_group"), p) for e, p in zip(entries, pg_ids, strict=True)]
        yield pg_ids
        yield whole_column(entries, "collective_seq_id", -1)
        yield whole_column(entries, "p2p_seq_id", 0)
        yield [self.call(name[1], entry) for name, entry in zip(names, entries, strict=True)]
        yield [index(self.backends, name[0]) for name in names]
        yield [STATES.get(text(entry.get("state")), 0) for entry in entries]
        yield [1 if entry.get("retired") else 0 for entry in entries]
        yield [
            1 if entry.get("is_p2p") or name[2] >= 0 else 0
            for name, entry in zip(names, entries, strict=True)
        ]
        yield [name[2] for name in names]
        yield whole_column(entries, "time_created_ns", 0)
        yield whole_column(entries, "time_discovered_started_ns", 0)
        yield whole_column(entries, "time_discovered_completed_ns", 0)
        yield [microseconds(entry.get("duration_ms")) for entry in entries]
        yield whole_column(entries, "timeout_ms", 0)
        yield [self.stack(entry.get("frames")) for entry in entries]

    def group(self, value: Any, pg_id: int) -> int:
        try:
            known = self.known_groups.get(value)
        except TypeError:
            known = None
        if known is None:
            known = index(self.group_names, group_name(value, pg_id))
            if isinstance(value, tuple):
                self.known_groups[value] = known
        return known

    def call(self, op: str, entry: dict[Any, Any]) -> int:
        """The call's number; values are checked once for each different call."""
        try:
            raw = (
                op,
                tuple(map(tuple, entry["input_sizes"])),
                tuple(map(tuple, entry["output_sizes"])),
                tuple(entry["input_dtypes"]),
                tuple(entry["output_dtypes"]),
            )
            known = self.known_calls.get(raw)
        except (KeyError, TypeError):
            return index(self.calls, call(op, entry))
        if known is None:
            known = self.known_calls[raw] = index(self.calls, call(op, entry))
        return known

    def named(self, value: Any) -> tuple[str, str, int]:
        """`<backend>:<op>[ a->b| a<-b]` as (backend, op, other end's rank in the group or -1)."""
        profiling_name = text(value)
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


def whole_column(entries: Sequence[dict[Any, Any]], key: str, otherwise: int) -> "array.array[int]":
    """One column; the slow way only where a value is missing or written as text."""
    values: list[Any] = [entry.get(key) for entry in entries]
    try:
        return array.array("q", values)
    except TypeError:
        return array.array("q", [whole(value, otherwise) for value in values])


def microseconds(value: Any) -> int:
    """A duration in ms as whole µs; -1 where there is none."""
    return int(value * 1000) if isinstance(value, int | float) and 0 < value < 1e12 else -1


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
