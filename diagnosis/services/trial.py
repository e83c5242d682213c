"""Trying a signature on pasted text: which lines it wins, and why, beside all other signatures."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

from diagnosis.readers.logs import Line, read_blocks
from diagnosis.taxonomy.matcher import Match
from diagnosis.taxonomy.patterns import compile_re2
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.taxonomy.signature import Signature

#: Pasted text is looked at up to here (bytes), and up to so many lines.
MAX_BYTES = 64 * 1024
MAX_LINES = 2000


@dataclass(frozen=True, slots=True)
class Span:
    """Where a pattern matched in a line: columns in UTF-16 units, as browsers count them."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TriedLine:
    """One line of the text: who wins it, and why. `mine`: the signature on trial does.

    `span` is None where the line was cleaned before matching (colours, JSON): all of it counts.
    """

    number: int
    winner: str
    mine: bool
    why: str
    span: Span | None
    parts: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class TriedExample:
    """One example: whether the signature on trial wins it, and if not, why."""

    text: str
    passes: bool
    why: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What a signature does with a text, with its examples and with those of all others."""

    lines: Sequence[TriedLine]
    examples: Sequence[TriedExample]
    taken: Sequence[str]
    cut: bool


@dataclass(frozen=True)
class _Candidate:
    """The signature on trial, compiled, beside the taxonomy without it."""

    signature: Signature
    others: Taxonomy

    @cached_property
    def pattern(self) -> Any:
        return compile_re2(self.signature.pattern)

    def contest(self, line: str, message: str) -> "tuple[Match | None, _Hit | None]":
        """The best of the others, and what the signature on trial makes of the line."""
        best = self.others.matcher.best(line.encode(), message.encode())
        return best, self.hit(line, message)

    def hit(self, line: str, message: str = "") -> "_Hit | None":
        if not self.signature.enabled:
            return None
        for text in (line, message):
            found = self.pattern.search(text.encode()) if text else None
            if found:
                parts = [(name, value) for name, value in found.groupdict().items() if value]
                told = [(_text(name), _text(value)) for name, value in parts]
                return _Hit(text, found.start(), found.end(), told)
        return None


@dataclass(frozen=True, slots=True)
class _Hit:
    text: str
    start: int
    end: int
    parts: Sequence[tuple[str, str]]


def try_out(signature: Signature, others: Taxonomy, text: str) -> Trial:
    """The signature against a text. `others` are the rules without it."""
    candidate = _Candidate(signature, others)
    raw = text.encode()
    lines = text.replace("\r\n", "\n").split("\n")
    cut = len(raw) > MAX_BYTES or len(lines) > MAX_LINES
    return Trial(
        lines=_lines(candidate, lines, raw[:MAX_BYTES]),
        examples=[_example(candidate, example) for example in signature.examples],
        taken=_taken(candidate),
        cut=cut,
    )


def _lines(candidate: _Candidate, shown: Sequence[str], raw: bytes) -> list[TriedLine]:
    found: list[TriedLine] = []
    for block in read_blocks(BytesIO(raw)):
        for index in range(min(len(block), MAX_LINES)):
            line, number = block.line(index), block.number(index)
            tried = _line(candidate, line, number, shown[number - 1 : number])
            if tried is not None and number <= MAX_LINES:
                found.append(tried)
    return found


def _line(candidate: _Candidate, line: Line, number: int, shown: Sequence[str]) -> TriedLine | None:
    match, hit = candidate.contest(line.text, line.message)
    if match is None and hit is None:
        return None
    mine, why = _verdict(candidate, match, hit)
    winner = candidate.signature if mine else (match.signature if match else None)
    span: Span | None
    if mine and hit:
        span, parts = _span(hit.text, hit.start, hit.end, line), hit.parts
    else:
        span, parts = _span_of(match, line), tuple(match.parts.items()) if match else ()
    as_typed = bool(shown) and shown[0].rstrip("\r") == line.text
    return TriedLine(
        number, winner.code if winner else "", mine, why, span if as_typed else None, parts
    )


def _verdict(candidate: _Candidate, match: Match | None, hit: _Hit | None) -> tuple[bool, str]:
    """Whether the signature on trial wins, and why it does or doesn't."""
    mine = candidate.signature
    if hit is None:
        return False, "this signature does not match" + (_rivals(match) if match else "")
    if match is None:
        return True, f"the only one that matches; priority {mine.priority}"
    other = match.signature
    wins = _rank(mine) < _rank(other)
    first, second = (mine, other) if wins else (other, mine)
    return wins, f"{first.code} {_reason(first, second)} {second.code}"


def _rivals(match: Match) -> str:
    """Which signature of the others takes the line."""
    return f"; {match.signature.code} does, at priority {match.signature.priority}"


def _reason(first: Signature, second: Signature) -> str:
    if first.priority != second.priority:
        return f"(priority {first.priority}) is above (priority {second.priority})"
    if first.severity != second.severity:
        return f"({first.severity}) is severer, at equal priority {first.priority}, than"
    return f"comes first by its code, at equal priority {first.priority} and severity, before"


def _rank(signature: Signature) -> tuple[int, int, str]:
    return (-signature.priority, -signature.severity.weight, signature.code)


def _span_of(match: Match | None, line: Line) -> Span | None:
    if match is None:
        return None
    pattern = compile_re2(match.signature.pattern)
    for text in (line.text, line.message):
        found = pattern.search(text.encode())
        if found:
            return _span(text, found.start(), found.end(), line)
    return None


def _span(text: str, start: int, end: int, line: Line) -> Span:
    """Byte positions in the line or its message as columns of the line."""
    moved = _units(line.text[: line.head.end].encode()) if text != line.text else 0
    raw = text.encode()
    return Span(moved + _units(raw[:start]), moved + _units(raw[:end]))


def _units(raw: bytes) -> int:
    return len(raw.decode("utf-8", "ignore").encode("utf-16-le")) // 2


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _example(candidate: _Candidate, example: str) -> TriedExample:
    match, hit = candidate.contest(example, "")
    if hit is None:
        return TriedExample(example, False, "the pattern does not match")
    mine, why = _verdict(candidate, match, hit)
    return TriedExample(example, mine, why)


def _taken(candidate: _Candidate) -> list[str]:
    """Codes of other signatures whose own examples the signature on trial would win."""
    return sorted(
        {
            other.code
            for other in candidate.others.signatures
            for example in other.examples
            if _rank(candidate.signature) < _rank(other) and candidate.hit(example)
        }
    )
