"""Terminal colours in logs: text without them, and the way back to the lines as they stand."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diagnosis.readers.line_ends import line_starts

ESCAPE = b"\x1b"

_CODE = re.compile(
    rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n\r]*(?:\x07|\x1b\\)|[@-Z\\^_])|\x1b"
)

#: The longest plain code (`ESC [ digits and semicolons letter`) that is taken out by arrays.
_LONGEST_CODE = 20

#: Text of less than this many bytes, or with fewer codes to a byte, is left to the expression.
_SMALL = 1 << 12
_BYTES_A_CODE = 600

#: How much of a text is looked at to see how many codes it has.
_SAMPLE = 1 << 13


def without_colours(text: bytes) -> bytes:
    """The text without terminal control sequences; line feeds are never taken out."""
    if ESCAPE not in text:
        return text
    if len(text) >= _SMALL and _bytes_a_code(text) < _BYTES_A_CODE:
        plain = _by_arrays(text)
        if plain is not None:
            return plain
    return _CODE.sub(b"", text)


def _bytes_a_code(text: bytes) -> float:
    """Bytes to one code, at the beginning of the text."""
    return min(len(text), _SAMPLE) / (text.count(ESCAPE, 0, _SAMPLE) or 1)


def _by_arrays(text: bytes) -> bytes | None:
    """The same where all codes are plain ones, at a price that does not grow with their number."""
    buffer = bytearray(text)
    buffer.extend(bytes(_LONGEST_CODE))
    codes = np.frombuffer(buffer, np.uint8)
    at = np.flatnonzero(codes == ESCAPE[0])
    if not (codes[at + 1] == ord("[")).all():
        return None
    codes[at + 1] = ESCAPE[0]
    for reach in range(2, _LONGEST_CODE):
        found = codes[at + reach]
        goes_on = ((found >= ord("0")) & (found <= ord("9"))) | (found == ord(";"))
        if not (goes_on | ((found >= ord("@")) & (found <= ord("~")))).all():
            return None
        codes[at + reach] = ESCAPE[0]
        at = at[goes_on]
        if not len(at):
            return bytes(memoryview(buffer.translate(None, ESCAPE))[:-_LONGEST_CODE])
    return None


@dataclass(frozen=True)
class Uncoloured:
    """Coloured lines without their colours, each ended by a line feed alone.

    `origins`: where each line of `text` begins in `source`, the text it was taken from, ascending;
    None where all lines of `source` are there, the colourless ones as well.
    """

    text: bytes
    source: bytes
    origins: Sequence[int] | None

    def origin(self, start: int) -> int:
        """Where the line that begins at `start` of `text` begins in `source`."""
        origins = self._all_origins if self.origins is None else self.origins
        return int(origins[int(np.searchsorted(self._starts, start))])

    @cached_property
    def _starts(self) -> "np.ndarray":
        return line_starts(self.text)

    @cached_property
    def _all_origins(self) -> "np.ndarray":
        return line_starts(self.source)


def coloured_lines(text: bytes) -> Uncoloured:
    """The lines of `text` that hold an escape, or all where many of them do."""
    if _bytes_a_code(text) < _BYTES_A_CODE / 6:
        fed = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
        return Uncoloured(without_colours(fed), text, None)
    origins: list[int] = []
    lines: list[bytes] = []
    end = 0
    find, rfind = text.find, text.rfind
    while (escape := find(ESCAPE, end)) >= 0:
        begin = rfind(b"\n", end, escape) + 1 or end
        end = find(b"\n", escape) + 1 or len(text)
        line = text[begin:end]
        if b"\r" not in line:
            origins.append(begin)
            lines.append(line)
            continue
        for start, part in _parts(line):
            origins.append(begin + start)
            lines.append(part)
    return Uncoloured(without_colours(b"".join(lines)), text, origins)


def _parts(line: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines with an escape in what a line feed ends, and where they begin in it."""
    start = 0
    for part in line.splitlines(keepends=True):
        if ESCAPE in part:
            yield start, part.rstrip(b"\r\n") + b"\n"
        start += len(part)
