"""One pass over a buffer for all patterns at once: which lines may match, and which patterns.

Two scanners give the same lines to whoever looks closer: RE2, which is always there, and Hyperscan
(https://intel.github.io/hyperscan), some times as quick, where its wheel is installed and takes
the patterns. Both may name a line too much, never one too few; RE2 has the last word on each line.
"""

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, Protocol

from diagnosis.taxonomy.patterns import combined, loose

try:
    import hyperscan
except ImportError:
    hyperscan = None  # type: ignore[assignment,unused-ignore]

#: Start of a line in the buffer, and the indices of the patterns that may match it, ascending;
#: None where the scanner cannot tell.
Hit = tuple[int, tuple[int, ...] | None]


class Scanner(Protocol):
    """Patterns compiled for whole buffers of lines broken by `\\n`."""

    def hits(self, text: bytes) -> Iterator[Hit]:
        """Lines of `text` that may match something, ascending."""


class Re2Scanner:
    """One RE2 expression of all patterns; it tells the lines, not the patterns."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._any = combined(list(patterns)) if patterns else None

    def hits(self, text: bytes) -> Iterator[Hit]:
        if self._any is None:
            return
        position, end = 0, len(text)
        while position < end:
            found = self._any.search(text, position)
            if found is None:
                return
            start = text.rfind(b"\n", position, found.start()) + 1 or position
            yield start, None
            line_end = text.find(b"\n", max(start, found.start()))
            if line_end < 0:
                return
            position = line_end + 1


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
        ends: list[tuple[int, int]] = []

        def note(pattern: int, _start: int, end: int, _flags: int, _context: object) -> None:
            ends.append((end, pattern))

        with self._one_at_a_time:
            self._database.scan(text, match_event_handler=note)
        ends.sort()
        start, line_end, patterns = 0, -1, set[int]()
        for end, pattern in ends:
            if end - 1 > line_end:
                if patterns:
                    yield start, tuple(sorted(patterns))
                start = text.rfind(b"\n", 0, end - 1) + 1
                line_end = text.find(b"\n", end - 1)
                line_end = len(text) if line_end < 0 else line_end
                patterns = set()
            patterns.add(pattern)
        if patterns:
            yield start, tuple(sorted(patterns))


def scanner_for(patterns: Sequence[str], *, native: bool) -> Scanner:
    """Hyperscan where `native` is asked for, installed and takes the patterns; else RE2."""
    if native and hyperscan is not None and patterns:
        try:
            return HyperscanScanner(patterns)
        except hyperscan.error:
            pass
    return Re2Scanner(patterns)
