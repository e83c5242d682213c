"""Matching: one pass over a buffer finds the lines that matter, then the best signature of each.

The first step is one RE2 expression of all patterns over whole buffers (measured at some hundred
MB/s on one core); it can name a line too much, never one too few. Only the lines that it names are
looked at again, with a set that tells which patterns match, to take the one of highest priority.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import re2

from diagnosis.taxonomy.patterns import as_bytes, combined, compile_re2, options, without_names
from diagnosis.taxonomy.signature import Signature


@dataclass(frozen=True, slots=True)
class Match:
    """The best signature of a line, with what its named groups caught.

    `parts` joins the branches of an alternation: a digit at the end of a group's name is dropped
    (`dev2` counts as `dev`). `also` holds the codes that matched the line and lost.
    """

    signature: Signature
    parts: Mapping[str, str]
    also: tuple[str, ...] = ()


class Matcher:
    """Compiled signatures. Building one takes some tens of milliseconds; keep it."""

    def __init__(self, signatures: Sequence[Signature], extra_patterns: Sequence[str] = ()) -> None:
        """`extra_patterns`: further patterns whose lines `candidates` must name too."""
        self._ranked = sorted(
            signatures, key=lambda one: (-one.priority, -one.severity.weight, one.code)
        )
        self._extra = tuple(extra_patterns)
        wanted = [signature.pattern for signature in self._ranked] + list(self._extra)
        self._any = combined(wanted) if wanted else None
        self._set = _as_set([signature.pattern for signature in self._ranked])
        self._compiled: dict[int, Any] = {}

    def candidates(self, text: bytes) -> Iterator[int]:
        """Starts of the lines of `text` (broken by `\\n`) that may match something, ascending."""
        if self._any is None:
            return
        position, end = 0, len(text)
        while position < end:
            found = self._any.search(text, position)
            if found is None:
                return
            start = text.rfind(b"\n", position, found.start()) + 1 or position
            yield start
            line_end = text.find(b"\n", max(start, found.start()))
            if line_end < 0:
                return
            position = line_end + 1

    def best(self, line: bytes, message: bytes | None = None) -> Match | None:
        """The signature of highest priority that matches `line` or its `message`, or None.

        `message` is the line without its prefixes (time, host, rank), so that `^` can mean its
        start. Ties go to the severer signature, then to the first code: the answer is stable.
        """
        if self._set is None:
            return None
        found: dict[int, bytes] = {}
        for text in (line, message):
            for index in (self._set.Match(text) if text else None) or ():
                found.setdefault(index, text or line)
        if not found:
            return None
        winner, *others = sorted(found)
        also = tuple(self._ranked[index].code for index in others)
        return Match(self._ranked[winner], self._parts(winner, found[winner]), also)

    def _parts(self, index: int, line: bytes) -> dict[str, str]:
        if index not in self._compiled:
            self._compiled[index] = compile_re2(self._ranked[index].pattern)
        found = self._compiled[index].search(line)
        parts: dict[str, str] = {}
        for name, value in (found.groupdict() if found else {}).items():
            if value:
                plain = _plain(name)
                parts.setdefault(plain, value.decode("utf-8", "replace"))
        return parts


def _plain(name: str | bytes) -> str:
    text = name.decode() if isinstance(name, bytes) else name
    return text.rstrip("0123456789")


def _as_set(patterns: Sequence[str]) -> Any:
    if not patterns:
        return None
    matching = re2.Set.SearchSet(options(captures=False))
    for pattern in patterns:
        matching.Add(as_bytes(without_names(pattern)))
    matching.Compile()
    return matching
