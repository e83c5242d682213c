"""Matching: one pass over a buffer finds the lines that matter, then the best signature of each.

The pass (`scanners`) can name a line too much, never one too few. Only the lines that it names are
looked at again with RE2, to take the matching signature of highest priority: the answer does not
depend on the scanner.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from diagnosis.taxonomy.patterns import LinePattern, as_set, without_names
from diagnosis.taxonomy.scanners import Hit, scanner_for
from diagnosis.taxonomy.signature import Signature


@dataclass(frozen=True, slots=True)
class Match:
    """The best signature of a line, with what its named groups caught.

    `parts` joins the branches of an alternation: a digit at the end of a group's name is dropped
    (`dev2` counts as `dev`).
    """

    signature: Signature
    parts: Mapping[str, str]


class Matcher:
    """Compiled signatures. Building one takes some tens of milliseconds; keep it."""

    def __init__(
        self,
        signatures: Sequence[Signature],
        extra_patterns: Sequence[str] = (),
        *,
        native: bool = False,
    ) -> None:
        """`extra_patterns`: further patterns whose lines `hits` must name too.

        `native`: scan with Hyperscan where it can be had, which pays off from about 64 MB of text.
        """
        self._ranked = sorted(
            signatures, key=lambda one: (-one.priority, -one.severity.weight, one.code)
        )
        self._index = {signature.code: index for index, signature in enumerate(self._ranked)}
        patterns = [signature.pattern for signature in self._ranked]
        self._scanner = scanner_for([*patterns, *extra_patterns], native=native)
        self._set = as_set([without_names(pattern) for pattern in patterns])
        self._compiled: dict[int, LinePattern] = {}

    def hits(self, text: bytes) -> Iterator[Hit]:
        """Lines of `text` that may match something: start, bytes, and which patterns may."""
        return self._scanner.hits(text)

    @property
    def signatures(self) -> int:
        """How many of the patterns are the signatures'; the extra ones come after them."""
        return len(self._ranked)

    def candidates(self, text: bytes) -> Iterator[int]:
        """Starts of the lines of `text` that may match something, ascending."""
        return (start for start, _, _ in self.hits(text))

    def best(
        self, line: bytes, message: bytes | None = None, possible: Sequence[int] | None = None
    ) -> Match | None:
        """The signature of highest priority that matches `line` or its `message`, or None.

        `message` is the line without its prefixes (time, host, rank), so that `^` can mean its
        start. Ties go to the severer signature, then to the first code: the answer is stable.
        `possible`: all patterns that may match, ascending, as `hits` told for exactly these bytes.
        """
        if self._set is None:
            return None
        texts = (line, message) if message else (line,)
        if possible is None:
            possible = sorted({i for text in texts for i in self._set.Match(text) or ()})
        for index in possible:
            if index >= len(self._ranked):
                return None
            pattern = self._pattern(index)
            for text in texts:
                parts = pattern.parts(text)
                if parts is not None:
                    return Match(self._ranked[index], parts)
        return None

    def matches_so(self, text: bytes, match: Match) -> bool:
        """Does the signature of `match` match this text with the same parts?"""
        return self._pattern(self._index[match.signature.code]).parts(text) == match.parts

    def _pattern(self, index: int) -> LinePattern:
        if index not in self._compiled:
            self._compiled[index] = LinePattern(self._ranked[index].pattern)
        return self._compiled[index]
