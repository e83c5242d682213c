"""Bytes of a log, in blocks of whole lines, of bounded size, with the way back to every line.

A block's lines end in a single line feed, each step of a carriage-return progress bar is a line of
its own, and JSON lines are unwrapped to their message. Colours stay in the block's text, since few
lines are ever looked at; a line that is asked for comes without them. Line numbers and byte offsets
always speak of the original file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import BinaryIO

import numpy as np

from diagnosis.readers.logs_colours import Uncoloured, coloured_lines, without_colours
from diagnosis.readers.logs_decoding import open_text, widths_in
from diagnosis.readers.logs_feeds import Feeds
from diagnosis.readers.logs_heads import NO_HEAD, Head, merged
from diagnosis.readers.logs_json import head_in, is_json_log, unwrapped
from diagnosis.readers.logs_lines import Line, parsed_line

#: Bytes that are read at once; a block may be longer by one line.
BLOCK_BYTES = 1 << 20

#: A line is cut after this many bytes; what follows counts as a further piece of the same line.
MAX_LINE_BYTES = 1 << 16

#: Windows line ends are looked for in the first line and in this much of a block: text has them
#: early or never.
PAIRED_WITHIN = 1 << 12


@dataclass
class Block:
    """Whole lines of one file.

    `first_number`: number of the first line, from 1; `first_offset`: its byte in the file. `raw` is
    the text as it was read; `widths` how many bytes each of its lines takes in the file where that
    is not its length; `around` the JSON that the messages stood in, and `origins` in which of its
    lines each did. `paired`: carriage returns right before a line feed belong to it. Where lines
    stand in the file is worked out when someone asks: most blocks hold nothing of interest.
    """

    text: bytes
    first_number: int
    first_offset: int
    raw: bytes
    widths: "np.ndarray | None" = None
    origins: Sequence[int] | None = None
    around: bytes | None = None
    paired: bool = False
    _parsed: dict[int, Line] = field(default_factory=dict)

    @cached_property
    def _raw_feeds(self) -> Feeds:
        return Feeds(self.raw)

    @cached_property
    def _feeds(self) -> Feeds:
        return self._raw_feeds if self.raw is self.text else Feeds(self.text)

    @cached_property
    def starts(self) -> "np.ndarray":
        """Where each line begins in `text`."""
        return _starts(self.text, _breaks(self.text))

    @cached_property
    def coloured(self) -> Uncoloured | None:
        """The lines with terminal codes, without them; None where no line has any."""
        return coloured_lines(self.text) if b"\x1b" in self.text else None

    def __len__(self) -> int:
        return len(self.starts) if self.text else 0

    def index_at(self, position: int) -> int:
        """Which line holds the byte at `position` of `text`."""
        return self._feeds.before(position)

    def number(self, index: int) -> int:
        """The number of a line in the file, from 1."""
        return self.first_number + self._lines_before(self._origin(index))

    def number_at(self, start: int) -> int:
        """The number of the line that begins at byte `start` of `text`."""
        if self._stands_as_read:
            return self.first_number + self._raw_feeds.before(start)
        return self.number(self.index_at(start))

    def offset_at(self, start: int) -> int:
        """The byte of the file at which the line at byte `start` of `text` begins."""
        if self._stands_as_read and self.widths is None:
            return self.first_offset + start
        return self.offset(self.index_at(start))

    @property
    def _stands_as_read(self) -> bool:
        """Is every byte of `text` where it was in what was read?"""
        return self.origins is None and len(self.raw) == len(self.text)

    def offset(self, index: int) -> int:
        """The byte of the file at which a line begins."""
        origin = self._origin(index)
        if self.widths is not None:
            return self.first_offset + int(self.widths[: self._lines_before(origin)].sum())
        return self.first_offset + int(self._starts_in_file[origin])

    @property
    def lines_of_file(self) -> int:
        """How many lines of the file it holds."""
        return self.feeds + (not self.raw.endswith(b"\n"))

    @cached_property
    def feeds(self) -> int:
        """How many line feeds of the file it holds."""
        return self._raw_feeds.all

    def _origin(self, index: int) -> int:
        return index if self.origins is None else self.origins[index]

    def _lines_before(self, origin: int) -> int:
        """How many lines of the file stand before this one in the block."""
        if self.raw is self.text or self.raw is self.around:
            return origin
        return self._raw_feeds.before(int(self._starts_in_file[origin]))

    @cached_property
    def _starts_in_file(self) -> "np.ndarray":
        """Where each line began before the line ends were made equal."""
        if self._stands_as_read:
            return self.starts
        if self.raw is self.around:
            return self._starts_around
        return _starts(self.raw, _breaks(self.raw, paired=self.paired))

    @cached_property
    def _starts_around(self) -> "np.ndarray":
        """Where each line of `around` begins."""
        around = self.around or b""
        return _starts(around, _breaks(around))

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
        if self.around is None:
            return NO_HEAD
        begin = int(self._starts_around[self._origin(self.index_at(start))])
        end = self.around.find(b"\n", begin)
        return head_in(self.around[begin : end if end >= 0 else None])

    def bytes_at(self, start: int) -> bytes:
        """The bytes of the line that begins at byte `start`, up to MAX_LINE_BYTES, colourless."""
        end = self.text.find(b"\n", start, start + MAX_LINE_BYTES)
        return without_colours(self.text[start : end if end >= 0 else start + MAX_LINE_BYTES])

    def starts_before(self, start: int, most: int) -> Iterator[int]:
        """Starts of up to `most` lines before byte `start`, the nearest first."""
        for _ in range(most):
            if start <= 0:
                return
            start = self.text.rfind(b"\n", 0, start - 1) + 1
            yield start

    def starts_after(self, start: int, most: int) -> Iterator[int]:
        """Starts of up to `most` lines after the line that holds byte `start`."""
        for _ in range(most):
            start = self.text.find(b"\n", start) + 1
            if not 0 < start < len(self.text):
                return
            yield start


def _breaks(data: bytes, *, paired: bool = False) -> "np.ndarray":
    """Positions of line feeds and carriage returns; `paired`: not of those before a feed."""
    raw = np.frombuffer(data, np.uint8)
    feeds = raw == 10
    if b"\r" not in data:
        return np.flatnonzero(feeds)
    returns = raw == 13
    if paired:
        returns[:-1] &= ~feeds[1:]
    return np.flatnonzero(feeds | returns)


def _starts(data: bytes, breaks: "np.ndarray") -> "np.ndarray":
    starts = np.concatenate(([0], breaks + 1))
    return starts[:-1] if len(breaks) and breaks[-1] == len(data) - 1 else starts


def read_blocks(stream: BinaryIO, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """The stream's lines in blocks. Any bytes are accepted; only the stream itself raises."""
    encoding, mark, chunks = open_text(stream, block_bytes)
    number, offset, json_lines = 1, mark, None
    for data in _whole_lines(chunks, block_bytes):
        if json_lines is None and data.strip():
            json_lines = is_json_log(data)
        widths = widths_in(data, encoding) if encoding else None
        block = _block(data, number, offset, widths)
        if json_lines:
            block = _unwrapped(block)
        yield block
        number += block.feeds
        offset += int(widths.sum()) if widths is not None else len(data)


def _whole_lines(chunks: Iterator[bytes], block_bytes: int) -> Iterator[bytes]:
    """The chunks cut at line ends; a line longer than a block is cut where it must be."""
    carry = b""
    for chunk in chunks:
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


def _block(data: bytes, number: int, offset: int, widths: "np.ndarray | None") -> Block:
    """A block of `data` with single line feeds at line ends."""
    text, paired = data, False
    if b"\r" in text:
        first_end = text.find(b"\n")
        paired = text[:first_end].endswith(b"\r") or b"\r\n" in text[:PAIRED_WITHIN]
        text = text.replace(b"\r\n", b"\n") if paired else text
        text = text.replace(b"\r", b"\n")
    return Block(text, number, offset, data, widths, paired=paired)


def _unwrapped(block: Block) -> Block:
    """The block of a JSON-lines log, each line replaced by the lines of its message."""
    text, origins = unwrapped(block.text)
    return replace(block, text=text, origins=origins, around=block.text, _parsed={})
