"""JSON objects one a line: each with its line number, and a count of lines that are none."""

from collections.abc import Iterator, Mapping
from typing import BinaryIO, TypeAlias

import orjson

JsonObject: TypeAlias = Mapping[str, object]

#: A longer line is no record of ours (bytes).
LINE_MAX_BYTES = 1024 * 1024


class JsonLines:
    """Iterates over (line number from 1, object); `damaged` counts what could not be read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.damaged = 0

    def __iter__(self) -> Iterator[tuple[int, JsonObject]]:
        number = 0
        while line := self._stream.readline(LINE_MAX_BYTES):
            number += 1
            if not line.strip():
                continue
            try:
                found = orjson.loads(line)
            except orjson.JSONDecodeError:
                self.damaged += 1
                continue
            if isinstance(found, Mapping):
                yield number, found
            else:
                self.damaged += 1


def whole(found: JsonObject, name: str, otherwise: int = -1) -> int:
    """A whole number of 64 bits, `otherwise` for anything else."""
    value = found.get(name, otherwise)
    ok = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62
    return int(value) if ok and isinstance(value, int) else otherwise


def number(found: JsonObject, name: str) -> float | None:
    """A finite number; None for anything else."""
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None


def inner(found: JsonObject, name: str) -> JsonObject:
    """An object within the object; an empty one where there is none."""
    value = found.get(name)
    return value if isinstance(value, Mapping) else {}


def text(found: JsonObject, name: str, most: int = 256) -> str:
    value = found.get(name)
    return value[:most] if isinstance(value, str) else ""
