"""One pass over a buffer for all patterns at once: which lines may match, and which patterns.

Two scanners give the same lines to whoever looks closer: RE2, which is always there, and Hyperscan
(https://intel.github.io/hyperscan), some times as quick, where its wheel is installed and takes
the patterns. Both may name a line too much, never one too few; RE2 has the last word on each line.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, Protocol

from diagnosis.readers.line_ends import after_break, line_end, line_start
from diagnosis.taxonomy.patterns import as_set, combined, loose

try:
    import hyperscan
except ImportError:
    hyperscan = None  # type: ignore[assignment,unused-ignore]

#: Where a line begins in the buffer, its bytes, and all patterns that may match it, ascending.
Hit = tuple[int, bytes, tuple[int, ...]]

#: An end of a match and the pattern's index in one number.
_INDEX_BITS = 20
_PATTERN = (1 << _INDEX_BITS) - 1


class Scanner(Protocol):
    """Patterns compiled for whole buffers of lines broken by `\\n`."""

    def hits(self, text: bytes) -> Iterator[Hit]:
        """Lines of `text` that may match something, ascending."""


class Re2Scanner:
    """One RE2 expression of all patterns finds the lines, a set of them which may match."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._any = combined(list(patterns)) if patterns else None
        self._set = as_set([loose(pattern) for pattern in patterns])

    def hits(self, text: bytes) -> Iterator[Hit]:
        if self._any is None:
            return
        position, end = 0, len(text)
        while position < end:
            found = self._any.search(text, position)
            if found is None:
                return
            start = line_start(text, found.start())
            stop = line_end(text, start)
            line = text[start:stop]
            possible = self._set.Match(line)
            if possible:
                yield start, line, tuple(sorted(possible))
            position = after_break(text, stop)


class HyperscanScanner:
    """All patterns in one Hyperscan database. Building it takes about half a second."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Raises `hyperscan.error` for a pattern that Hyperscan does not take."""
        self._database: Any = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self._database.compile(
            expressions=[loose(pattern).encode() for pattern in patterns],
            ids=list(range(len(patterns))),
            elements=len(patterns),
            flags=[hyperscan.HS_FLAG_MULTILINE] * len(patterns),
        )
        self._one_at_a_time = Lock()

    def hits(self, text: bytes) -> Iterator[Hit]:
        ends: list[int] = []
        found = ends.append

        def note(pattern: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found(end << _INDEX_BITS | pattern)

        with self._one_at_a_time:
            self._database.scan(text, match_event_handler=note)
        ends.sort()
        return _lines(text, ends)


def _lines(text: bytes, ends: list[int]) -> Iterator[Hit]:
    """The lines of `text` that hold these ends of matches, given ascending."""
    start = following = 0
    line = b""
    patterns: list[int] = []
    for one in ends:
        last = (one >> _INDEX_BITS) - 1
        if last >= following:
            if patterns:
                yield start, line, _ascending(tuple(patterns))
            start, line, following = _line_at(text, last)
            patterns = []
        patterns.append(one & _PATTERN)
    if patterns:
        yield start, line, _ascending(tuple(patterns))


def _line_at(text: bytes, position: int) -> tuple[int, bytes, int]:
    """The line that holds a byte: where it begins, its bytes, and where the next one begins."""
    start = text.rfind(b"\n", 0, position) + 1
    end = text.find(b"\n", position)
    line = text[start : end if end >= 0 else None]
    if b"\r" in line:
        start = line_start(text, position)
        end = line_end(text, start)
        return start, text[start:end], after_break(text, end)
    return start, line, start + len(line) + 1


@lru_cache(maxsize=1 << 12)
def _ascending(patterns: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(set(patterns)))


def scanner_for(patterns: Sequence[str], *, native: bool) -> Scanner:
    """Hyperscan where `native` is asked for, installed and takes the patterns; else RE2."""
    if native and hyperscan is not None and patterns:
        try:
            return HyperscanScanner(patterns)
        except hyperscan.error:
            pass
    return Re2Scanner(patterns)
