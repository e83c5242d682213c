"""Plain columns from a loaded Flight Recorder dump, whatever it holds.

Runs in the child process (standard library only). Nothing is trusted: every value is checked or
replaced, every list is bounded, nested values are never walked beyond the known shape.
"""

import array
import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from operator import contains, itemgetter
from typing import Any, TypeVar

from diagnosis.readers.flight_recorder_comm_state import comm_state

Converted = TypeVar("Converted")

COLUMNS = (
    "record_id", "group", "pg_id", "seq", "p2p_seq", "call", "backend", "state", "retired",
    "is_p2p", "peer", "created_ns", "started_ns", "completed_ns", "duration_us", "timeout_ms",
    "stack",
)  # fmt: skip
CALL_KEYS = ("input_sizes", "output_sizes", "input_dtypes", "output_dtypes")
KEYS = frozenset(
    {
        "record_id", "pg_id", "process_group", "collective_seq_id", "p2p_seq_id", "profiling_name",
        "time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns", "state",
        "duration_ms", "timeout_ms", "retired", "is_p2p", "frames", *CALL_KEYS,
    }
)  # fmt: skip
STATES = {"scheduled": 0, "started": 1, "completed": 2}
#: marshal's last format that writes equal values as equal bytes, whoever else refers to them.
MARSHAL_BY_VALUE = 2
COMPLETED = STATES["completed"]
NEWEST_STACKS = 512
TEXT_MAX = 512
FRAMES_MAX = 32
TENSORS_MAX = 4096
DIMENSIONS_MAX = 64
GROUPS_MAX = 65_536
GROUPS_KNOWN = 256
RANK_DIGITS = 10


class Refused(Exception):  # noqa: N818 - named for what the person reads
    """The dump cannot be taken; the message says why."""


def compact(
    dump: dict[Any, Any], entries_max: int, *, newest_stacks: int = NEWEST_STACKS
) -> tuple[dict[str, Any], bytes]:
    """The header (plain tables) and the columns of a loaded dump.

    Stacks are kept of what is not over and of the `newest_stacks` newest operations: no rule asks
    where a call came from that everyone has left long ago.
    """
    entries = dump.get("entries") or []
    if not isinstance(entries, list | tuple):
        raise Refused("damaged: 'entries' is not a list")
    if len(entries) > entries_max:
        raise Refused(f"refused: {len(entries)} entries, more than the {entries_max} allowed")
    if not {type(entry) for entry in entries} <= {dict}:
        raise Refused("damaged: an entry is not a dictionary")
    tables = Tables(newest_stacks)
    columns = array.array("q")
    try:
        for column in tables.columns(entries):
            columns.extend(array.array("q", column))
    except (OverflowError, TypeError) as error:
        raise Refused("damaged: an entry holds a number that is no 64-bit integer") from error
    header = {
        "version": text(dump.get("version")),
        "library": text(dump.get("comm_lib_version") or dump.get("nccl_version")),
        "rank": whole(dump.get("rank", dump.get("global_rank")), None),
        "host": text(dump.get("hostname") or dump.get("host")),
        "groups": groups(dump.get("pg_config")),
        "status": status(dump.get("pg_status")),
        "comm_state": comm_state(dump),
        "rows": len(entries),
        **tables.header(),
    }
    return header, columns.tobytes()


class Tables:
    """What entries share (names, calls, stacks), each kept once and pointed at by number."""

    def __init__(self, newest_stacks: int) -> None:
        self.newest_stacks = newest_stacks
        self.group_names: dict[Any, int] = {}
        self.calls: dict[Any, int] = {}
        self.backends: dict[Any, int] = {}
        self.stacks: dict[Any, int] = {}
        self.known_calls: dict[bytes, int] = {}
        self.known_lines: dict[int, tuple[str, str, int]] = {}
        self.known_stacks: dict[tuple[int, int, int], list[tuple[Any, int]]] = {}

    def header(self) -> dict[str, Any]:
        return {
            "group_names": list(self.group_names),
            "calls": list(self.calls),
            "backends": list(self.backends),
            "stacks": list(self.stacks),
        }

    def columns(self, entries: Sequence[dict[Any, Any]]) -> Iterator[Iterable[int]]:
        """The columns in the order of `COLUMNS`."""
        given = by_key(entries)
        pg_ids = whole_column(given["pg_id"], -1)
        names = once_each(named, given["profiling_name"])
        peers = [name[2] for name in names]
        yield whole_column(given["record_id"], 0)
        yield self.group_column(given["process_group"], pg_ids)
        yield pg_ids
        yield whole_column(given["collective_seq_id"], -1)
        yield whole_column(given["p2p_seq_id"], 0)
        yield self.call_column([name[1] for name in names], given)
        yield once_each(lambda name: index(self.backends, name[0]), names)
        states = once_each(state, given["state"])
        yield states
        yield [1 if value else 0 for value in given["retired"]]
        yield [
            1 if peer >= 0 or value else 0
            for peer, value in zip(peers, given["is_p2p"], strict=True)
        ]
        yield peers
        yield whole_column(given["time_created_ns"], 0)
        yield whole_column(given["time_discovered_started_ns"], 0)
        yield whole_column(given["time_discovered_completed_ns"], 0)
        yield once_each(microseconds, given["duration_ms"])
        yield whole_column(given["timeout_ms"], 0)
        yield self.stack_column(given["frames"], states)

    def group_column(self, values: Sequence[Any], pg_ids: Sequence[int]) -> Sequence[int]:
        """Numbers of groups; those without a name are told apart by their `pg_id`."""
        pairs = list(zip(values, pg_ids, strict=True))
        return once_each(lambda pair: index(self.group_names, group_name(*pair)), pairs)

    def call_column(self, ops: Sequence[str], given: Mapping[str, Sequence[Any]]) -> Sequence[int]:
        """Numbers of calls; their values are checked once for each different call."""
        parts = zip(ops, *(given[key] for key in CALL_KEYS), strict=True)
        return [self.call(part) for part in parts]

    def call(self, parts: tuple[Any, ...]) -> int:
        try:
            raw = marshal.dumps(parts, MARSHAL_BY_VALUE)
        except ValueError:
            return index(self.calls, call(parts))
        known = self.known_calls.get(raw)
        if known is None:
            known = self.known_calls[raw] = index(self.calls, call(parts))
        return known

    def stack_column(self, stacks: Sequence[Any], states: Sequence[int]) -> Sequence[int]:
        """Numbers of stacks; -1 for those that are not kept."""
        newest = len(stacks) - self.newest_stacks
        return [
            -1 if row < newest and done == COMPLETED else self.stack(frames)
            for row, (frames, done) in enumerate(zip(stacks, states, strict=True))
        ]

    def stack(self, frames: Any) -> int:
        """The stack's number. Torch shares the frames of equal stacks, so those compare fast."""
        if not isinstance(frames, list | tuple) or not frames:
            return -1
        alike = self.known_stacks.setdefault((len(frames), id(frames[0]), id(frames[-1])), [])
        for other, known in alike:
            if frames == other:
                return known
        lines = tuple(self.line(frame) for frame in frames[:FRAMES_MAX] if isinstance(frame, dict))
        alike.append((frames, index(self.stacks, lines)))
        return alike[-1][1]

    def line(self, frame: dict[Any, Any]) -> tuple[str, str, int]:
        """(function, file, line) of one frame; stacks share most of theirs."""
        known = self.known_lines.get(id(frame))
        if known is None:
            place = text(frame.get("name")), text(frame.get("filename"))
            known = self.known_lines[id(frame)] = (*place, whole(frame.get("line"), 0))
        return known


def index(table: dict[Any, int], value: Any) -> int:
    return table.setdefault(value, len(table))


def once_each(convert: Callable[[Any], Converted], values: Sequence[Any]) -> Sequence[Converted]:
    """Each value converted, and equal ones only once, where they can be compared by hash."""
    try:
        known = {value: convert(value) for value in dict.fromkeys(values)}
        return [known[value] for value in values]
    except TypeError:
        return [convert(value) for value in values]


def named(value: Any) -> tuple[str, str, int]:
    """`<backend>:<op>[ a->b| a<-b]` as (backend, op, other end's rank in the group or -1)."""
    profiling_name = text(value)
    backend, found, rest = profiling_name.rpartition(":")
    op, _, ends = (rest if found else profiling_name).partition(" ")
    other = ends.replace("<-", " ").replace("->", " ").split()
    return backend, op, int(other[1]) if len(other) == 2 and other[1].isdecimal() else -1


def state(value: Any) -> int:
    return STATES.get(text(value), 0)


def by_key(entries: Sequence[dict[Any, Any]]) -> dict[str, Sequence[Any]]:
    """Key → its values, None where an entry has none; each entry is visited once."""
    first = entries[0] if entries else {}
    keys = [key for key in KEYS if key in first]
    if len(keys) < 2:
        return {key: [entry.get(key) for entry in entries] for key in KEYS}
    try:
        found = dict(zip(keys, zip(*map(itemgetter(*keys), entries), strict=True), strict=True))
    except KeyError:
        return {key: [entry.get(key) for entry in entries] for key in KEYS}
    others = KEYS - found.keys()
    absent = [None] * len(entries)
    if any(any(map(contains, entries, repeat(other))) for other in others):
        return found | {key: [entry.get(key) for entry in entries] for key in others}
    return found | dict.fromkeys(others, absent)


def whole_column(values: Sequence[Any], otherwise: int) -> "array.array[int]":
    """One column; the slow way only where a value is missing or written as text."""
    try:
        return array.array("q", values)
    except TypeError:
        return array.array("q", once_each(lambda value: whole(value, otherwise), values))


def microseconds(value: Any) -> int:
    """A duration in ms as whole µs; -1 where there is none."""
    return int(value * 1000) if isinstance(value, int | float) and 0 < value < 1e12 else -1


def group_name(value: Any, pg_id: int) -> tuple[str, str]:
    if isinstance(value, list | tuple) and len(value) >= 2:
        return (text(value[0]), text(value[1]))
    return (text(value) or str(pg_id), "")


def call(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    op, inputs, outputs, input_dtypes, output_dtypes = parts
    return op, sizes(inputs), sizes(outputs), dtypes(input_dtypes), dtypes(output_dtypes)


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
    """`pg_config` as [[name, desc, ranks], …]; the ranks are a string in most versions."""
    if not isinstance(config, dict):
        return []
    if len(config) > GROUPS_MAX:
        raise Refused(f"refused: more than {GROUPS_MAX} process groups")
    found = []
    for name, group in config.items():
        if isinstance(group, dict):
            found.append([text(name), text(group.get("desc")), group_ranks(group.get("ranks"))])
    return found


def group_ranks(value: Any) -> str:
    """The ranks as numbers between commas: a large group is the same text in every dump."""
    if isinstance(value, str):
        return ranks_in(value)
    if isinstance(value, list | tuple):
        return ",".join(str(int(rank)) for rank in value if isinstance(rank, int) and rank >= 0)
    return ""


@lru_cache(GROUPS_KNOWN)
def ranks_in(value: str) -> str:
    parts = (part.strip() for part in value.strip("[] \n").split(","))
    return ",".join(part for part in parts if part.isdecimal() and len(part) < RANK_DIGITS)


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
