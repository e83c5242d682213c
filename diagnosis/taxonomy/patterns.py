"""What a signature's pattern may be, and RE2 compiled the way that every matcher here needs it."""

import re
from collections.abc import Sequence
from typing import Any

import re2

from diagnosis.taxonomy.re2_limits import instead_of

#: Memory that RE2 may use for one compiled expression, in bytes. Its default of 8 MiB makes the
#: combined expression of some hundred signatures fall back to the slow engine.
RE2_MEMORY = 64 * 1024 * 1024

#: The same for one signature's expression: there are hundreds, and each sees single lines.
RE2_LINE_MEMORY = 1024 * 1024

MAX_PATTERN_LENGTH = 2000

#: A repeat of one character at the end of a pattern, alone in a group or not.
_REPEAT = r"(?P<{0}>\\[dDsSwW]|\.|\[\^?\]?(?:[^\]\\\[]|\\.)*\])(?:(?P<once{0}>\+)|[*?])\??"
_OPEN_END = re.compile(rf"(?<!\\)(?:{_REPEAT.format('bare')}|\(\?:{_REPEAT.format('grouped')}\))$")
_OPTIONAL_END = re.compile(r"(?<!\\)\)[*?]\??$")
_MARK = re.compile(r"\\Q.*?\\E|\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|[()|]")
_LINE_END = re.compile(r"\\Q.*?\\E|\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|\$")
_LINE_START = re.compile(r"(?<![\\[])\^")
_UNANCHORED = re2._re2.RE2.Anchor.UNANCHORED
_GROUP_NAME = re.compile(r"\(\?P<[^>]*>")
_TEXT_ANCHOR = re.compile(r"(?<!\\)(?:\\\\)*\\[AzZ]")


class PatternError(ValueError):
    """A pattern that cannot be used, with the reason in words for the person who wrote it."""


def check_pattern(text: str) -> None:
    """Raise `PatternError` unless `text` is a usable pattern: RE2 syntax, within one line.

    RE2 has neither look-around nor back references, which is why no pattern can hang a worker.
    """
    if not text:
        raise PatternError("the pattern is empty")
    if len(text) > MAX_PATTERN_LENGTH:
        raise PatternError(f"the pattern is longer than {MAX_PATTERN_LENGTH} characters")
    if "\n" in text or "\r" in text:
        raise PatternError("the pattern holds a line break, but it is searched within one line")
    if _TEXT_ANCHOR.search(text):
        raise PatternError("use ^ and $ for the ends of the line instead of \\A, \\z and \\Z")
    names = _GROUP_NAME.findall(text)
    if len(names) > len(set(names)):
        raise PatternError("two groups have one name; put a digit behind one of them (dev, dev2)")
    compiled = _compile_for_check(text)
    if compiled.search(b"") is not None:
        raise PatternError("the pattern matches an empty line, so it would match every line")


def _compile_for_check(text: str) -> Any:
    try:
        re2.compile(text.encode(), options(captures=True))
        return compile_re2(text)
    except re2.error as error:
        reason = error.args[0] if error.args else "not understood"
        if isinstance(reason, bytes):
            reason = reason.decode("utf-8", "replace")
        raise PatternError(instead_of(text) or f"RE2 refuses the pattern: {reason}") from error


def options(*, captures: bool, memory: int = RE2_MEMORY) -> Any:
    """RE2 over bytes: one byte is one character, so that wrongly encoded text cannot break it."""
    chosen = re2.Options()
    chosen.encoding = re2.Options.Encoding.LATIN1
    chosen.max_mem = memory
    chosen.log_errors = False
    chosen.never_capture = not captures
    return chosen


def compile_re2(pattern: str, *, captures: bool = True) -> Any:
    """`pattern` compiled for bytes, `^` and `$` meaning the ends of a line."""
    return re2.compile(as_bytes(pattern), options(captures=captures))


class LinePattern:
    """A pattern that is searched in single lines, for what its named groups catch.

    Calls the compiled expression itself: the `re2` module's match objects take longer to make than
    RE2 takes to match a line.
    """

    def __init__(self, pattern: str) -> None:
        """Raises `re2.error` for what RE2 refuses."""
        compiled = re2.compile(as_bytes(pattern), options(captures=True, memory=RE2_LINE_MEMORY))
        self._match = compiled._regexp.Match
        self._groups = tuple(
            (_plain(name), index) for name, index in sorted(compiled.groupindex.items())
        )

    def parts(self, line: bytes) -> dict[str, str] | None:
        """Group → text where the pattern matches, else None.

        Branches are joined: a digit at the end of a group's name is dropped (`dev2` is `dev`).
        """
        spans = self._match(_UNANCHORED, line, 0, len(line))
        if spans[0][0] < 0:
            return None
        parts: dict[str, str] = {}
        for name, index in self._groups:
            start, end = spans[index]
            if end > start and name not in parts:
                parts[name] = line[start:end].decode("utf-8", "replace")
        return parts


def _plain(name: str | bytes) -> str:
    text = name.decode() if isinstance(name, bytes) else name
    return text.rstrip("0123456789")


def as_bytes(pattern: str) -> bytes:
    return f"(?m:{pattern})".encode()


def without_names(pattern: str) -> str:
    """The pattern with its named groups made plain ones, so that patterns can be joined."""
    return _GROUP_NAME.sub("(?:", pattern)


def loose(pattern: str) -> str:
    """A pattern that matches wherever `pattern` does, and perhaps elsewhere, without names.

    `^` is left out: it means the start of the message, which a scan of raw bytes cannot know. `$`
    stands before a carriage return as well, which ends a line of a text as it was read.
    Repeats and groups at the end are cut to what they need at least: a scanner that tells every end
    of a match would tell one for each of their characters.
    """
    anywhere = _LINE_START.sub("", without_names(pattern))
    return _before_returns("|".join(map(_cut_short, _alternatives(anywhere))))


def _before_returns(pattern: str) -> str:
    return _LINE_END.sub(lambda found: r"(?:$|\r)" if found[0] == "$" else found[0], pattern)


def _cut_short(alternative: str) -> str:
    short = alternative
    while short:
        if found := _OPEN_END.search(short):
            kind = "bare" if found["bare"] else "grouped"
            short = short[: found.start()] + (found[kind] if found[f"once{kind}"] else "")
        elif found := _OPTIONAL_END.search(short):
            short = short[: _opening(short, found.start())]
        else:
            return short
    return alternative


def _opening(pattern: str, closing: int) -> int:
    """Where the group opens that closes there."""
    opened = []
    for found in _MARK.finditer(pattern, 0, closing):
        if found[0] == "(":
            opened.append(found.start())
        elif found[0] == ")":
            opened.pop()
    return opened[-1]


def _alternatives(pattern: str) -> list[str]:
    """The pattern cut at the `|` that stand outside of groups and classes."""
    parts, begin, depth = [], 0, 0
    for found in _MARK.finditer(pattern):
        mark = found[0]
        depth += (mark == "(") - (mark == ")")
        if mark == "|" and depth == 0:
            parts.append(pattern[begin : found.start()])
            begin = found.end()
    return [*parts, pattern[begin:]]


def combined(patterns: list[str]) -> Any:
    """One expression that matches wherever any of the loose `patterns` does."""
    joined = "|".join(f"(?:{loose(pattern)})" for pattern in patterns)
    return re2.compile(as_bytes(joined), options(captures=False))


def as_set(patterns: Sequence[str]) -> Any:
    """A set of patterns without names, which tells all that a line matches; None for no pattern."""
    if not patterns:
        return None
    matching = re2.Set.SearchSet(options(captures=False))
    for pattern in patterns:
        matching.Add(as_bytes(pattern))
    matching.Compile()
    return matching
