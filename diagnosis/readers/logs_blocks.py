"""Bytes of a log, in blocks of whole lines, of bounded size, with the way back to every line.

A block's text is what stands in the file, colours and carriage returns included, since few lines
are ever looked at: a line that is asked for comes without them (`line_ends` tells where it ends).
JSON lines alone are unwrapped to their messages. Line numbers and byte offsets always speak of the
original file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import BinaryIO

import numpy as np

from diagnosis.readers.line_ends import after_break, feed_starts, line_end, line_start, line_starts
from diagnosis.readers.logs_colours import Uncoloured, coloured_lines, without_colours
from diagnosis.readers.logs_decoding import open_text, widths_in
from diagnosis.readers.logs_feeds import Feeds
from diagnosis.readers.logs_heads import NO_HEAD, Head, merged
from diagnosis.readers.logs_json import head_in, is_json_log, unwrapped
from diagnosis.readers.logs_lines import Line, parsed_line

#: Bytes that are read at once; a block may be longer by one line.
BLOCK_BYTES = 1 << 20

#: Of a longer line its beginning and its end are read, together this many bytes.
MAX_LINE_BYTES = 1 << 16
_END_BYTES = 1 << 14
_LEFT_OUT = b" ... "


def shortened(line: bytes) -> bytes:
    """The line; of one longer than MAX_LINE_BYTES its beginning and its end."""
    if len(line) <= MAX_LINE_BYTES:
        return line
    beginning = line[: MAX_LINE_BYTES - _END_BYTES - len(_LEFT_OUT)]
    return b"%b%b%b" % (beginning, _LEFT_OUT, line[-_END_BYTES:])


@dataclass
class Block:
    """Whole lines of one file.

    `text` is as it stands in the file; for JSON lines it holds their messages, `around` is the text
    of the file, and `origins` in which of its lines each line of `text` stood. `first_number`:
    number of the first line, from 1; `first_offset`: its byte in the file. `widths`: how many bytes
    each line takes in the file where that is not its length. Where lines stand in the file is
    worked out when someone asks: most blocks hold nothing of interest.
    """

    text: bytes
    first_number: int
    first_offset: int
    widths: "np.ndarray | None" = None
    origins: Sequence[int] | None = None
    around: bytes | None = None
    _parsed: dict[int, Line] = field(default_factory=dict)

    @cached_property
    def starts(self) -> "np.ndarray":
        """Where each line begins in `text`."""
        return line_starts(self.text)

    @cached_property
    def coloured(self) -> Uncoloured | None:
        """The lines with terminal codes, without them; None where no line has any."""
        return coloured_lines(self.text) if b"\x1b" in self.text else None

    def __len__(self) -> int:
        return len(self.starts)

    def number(self, index: int) -> int:
        """The number of a line in the file, from 1."""
        return self.number_at(int(self.starts[index]))

    def number_at(self, start: int) -> int:
        """The number of the line that begins at byte `start` of `text`."""
        return self.first_number + self._lines_before(start)

    def offset(self, index: int) -> int:
        """The byte of the file at which a line begins."""
        return self.offset_at(int(self.starts[index]))

    def offset_at(self, start: int) -> int:
        """The byte of the file at which the line at byte `start` of `text` begins."""
        if self.widths is not None:
            return self.first_offset + int(self.widths[: self._lines_before(start)].sum())
        if self.around is not None:
            return self.first_offset + self._start_around(start)
        return self.first_offset + start

    @property
    def lines_of_file(self) -> int:
        """How many lines of the file it holds."""
        return self.feeds + (not self._of_file.endswith(b"\n"))

    @cached_property
    def feeds(self) -> int:
        """How many line feeds of the file it holds."""
        return (self._feeds if self.around is None else Feeds(self.around)).all

    @property
    def _of_file(self) -> bytes:
        return self.text if self.around is None else self.around

    @cached_property
    def _feeds(self) -> Feeds:
        return Feeds(self.text)

    def _lines_before(self, start: int) -> int:
        """How many lines of the file stand before the line at byte `start` of `text`."""
        feeds = self._feeds.before(start)
        return feeds if self.origins is None else self.origins[feeds]

    def _start_around(self, start: int) -> int:
        """Where in `around` the line begins in which the line at byte `start` stood."""
        return int(self._starts_around[self._lines_before(start)])

    def around_at(self, start: int) -> bytes:
        """The line of `around` in which the line at byte `start` stood."""
        begin = self._start_around(start)
        end = self._of_file.find(b"\n", begin)
        return self._of_file[begin : end if end >= 0 else None]

    @cached_property
    def _starts_around(self) -> "np.ndarray":
        """Where each line of `around` begins; only line feeds end them."""
        return feed_starts(self._of_file)

    def line(self, index: int) -> Line:
        """The line as text with its prefixes parsed."""
        return self.line_at(int(self.starts[index]))

    def line_at(self, start: int) -> Line:
        """The line that begins at byte `start` of `text`."""
        line = self._parsed.get(start)
        if line is None:
            line = parsed_line(self.bytes_at(start))
            if self.around is not None:
                line = Line(line.text, merged(self.outer_head_at(start), line.head), line.data)
            self._parsed[start] = line
        return line

    def outer_head_at(self, start: int) -> Head:
        """What the JSON around the message of the line at byte `start` tells; empty for none."""
        return NO_HEAD if self.around is None else head_in(self.around_at(start))

    def bytes_at(self, start: int) -> bytes:
        """The bytes of the line that begins at byte `start`, shortened and colourless."""
        return without_colours(shortened(self.text[start : line_end(self.text, start)]))

    def parts(self, cuts: Sequence[int]) -> Iterator[tuple[int, "Block"]]:
        """The block cut before the lines that begin at these bytes; each part with its first byte.

        Not for JSON lines.
        """
        for begin, end in pairwise((0, *cuts, len(self.text))):
            lines = (self._lines_before(begin), self._lines_before(end))
            offset = self.offset_at(begin)
            widths = None if self.widths is None else self.widths[slice(*lines)]
            yield begin, Block(self.text[begin:end], self.first_number + lines[0], offset, widths)

    def starts_before(self, start: int, most: int) -> Iterator[int]:
        """Starts of up to `most` lines before byte `start`, the nearest first."""
        for _ in range(most):
            if start <= 0:
                return
            start = line_start(self.text, start - 1)
            yield start

    def starts_after(self, start: int, most: int) -> Iterator[int]:
        """Starts of up to `most` lines after the line that begins at byte `start`."""
        for _ in range(most):
            start = after_break(self.text, line_end(self.text, start))
            if start >= len(self.text):
                return
            yield start


def read_blocks(stream: BinaryIO, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """The stream's lines in blocks. Any bytes are accepted; only the stream itself raises."""
    encoding, mark, chunks = open_text(stream, block_bytes)
    number, offset, json_lines = 1, mark, None
    for text in _whole_lines(chunks, block_bytes):
        if json_lines is None and text.strip():
            json_lines = is_json_log(text)
        widths = widths_in(text, encoding) if encoding else None
        block = Block(text, number, offset, widths)
        if json_lines:
            block = _unwrapped(block)
        yield block
        number += block.feeds
        offset += int(widths.sum()) if widths is not None else len(text)


def _whole_lines(chunks: Iterator[bytes], block_bytes: int) -> Iterator[bytes]:
    """The chunks cut at line ends; a line longer than a block is cut where it must be."""
    carry = b""
    for chunk in chunks:
        if not carry and chunk.endswith(b"\n"):
            yield chunk
            continue
        cut = chunk.rfind(b"\n") + 1
        if not cut and len(carry) + len(chunk) > block_bytes:
            carry += chunk
            cut = carry.rfind(b"\r", 0, -1) + 1 or len(carry)
            yield carry[:cut]
            carry = carry[cut:]
        elif cut:
            yield b"".join((carry, memoryview(chunk)[:cut]))
            carry = chunk[cut:]
        else:
            carry += chunk
    if carry:
        yield carry


def _unwrapped(block: Block) -> Block:
    """The block of a JSON-lines log, each line replaced by the lines of its message."""
    text, origins = unwrapped(block.text)
    return replace(block, text=text, origins=origins, around=block.text, _parsed={})
