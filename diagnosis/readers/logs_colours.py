"""Terminal colours in logs: text without them, and the way back to the lines as they stand."""

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from diagnosis.readers.line_ends import feed_starts
from diagnosis.readers.logs_feeds import Feeds

ESCAPE = b"\x1b"

_CODE = re.compile(
    rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n\r]*(?:\x07|\x1b\\)|[@-Z\\^_])|\x1b"
)

#: The longest plain code (`ESC [ digits and semicolons letter`) that is taken out by arrays.
_LONGEST_CODE = 20

#: What each byte can be in a plain code: 0 stands for none of it.
_ENDS, _GOES_ON = 1, 2
_ROLES = np.zeros(256, np.uint8)
_ROLES[ord("@") : ord("~") + 1] = _ENDS
_ROLES[np.frombuffer(b"0123456789;", np.uint8)] = _GOES_ON

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
    at += 1
    for _ in range(2, _LONGEST_CODE):
        at += 1
        role = _ROLES[codes[at]]
        if not role.all():
            return None
        codes[at] = ESCAPE[0]
        at = at[role == _GOES_ON]
        if not len(at):
            return bytes(memoryview(buffer.translate(None, ESCAPE))[:-_LONGEST_CODE])
    return None


class Uncoloured:
    """Coloured lines without their colours.

    `origins`: where what each line feed of `text` ends begins in `source`, the text it was taken
    from, ascending; None where all lines of `source` are there, the colourless ones as well.
    """

    def __init__(self, text: bytes, source: bytes, origins: Sequence[int] | None) -> None:
        self.text, self.source, self.origins = text, source, origins
        self._feeds = Feeds(text)

    def origin(self, start: int) -> int:
        """Where the line that begins at `start` of `text` begins in `source`."""
        begins = self._all_begins if self.origins is None else self.origins
        begin = int(begins[self._feeds.before(start)])
        for _ in range(self.text.count(b"\r", self.text.rfind(b"\n", 0, start) + 1, start)):
            begin = self.source.find(b"\r", begin) + 1
        return begin

    @cached_property
    def _all_begins(self) -> "np.ndarray":
        return feed_starts(self.source)


def coloured_lines(text: bytes) -> Uncoloured:
    """What line feeds end and holds an escape, or all of the text where many of them do."""
    if _bytes_a_code(text) < _BYTES_A_CODE / 6:
        return Uncoloured(without_colours(text), text, None)
    origins: list[int] = []
    lines: list[bytes] = []
    end = 0
    find, rfind = text.find, text.rfind
    while (escape := find(ESCAPE, end)) >= 0:
        begin = rfind(b"\n", end, escape) + 1 or end
        end = find(b"\n", escape) + 1 or len(text)
        origins.append(begin)
        lines.append(text[begin:end])
    return Uncoloured(without_colours(b"".join(lines)), text, origins)
