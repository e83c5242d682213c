"""Bytes of a log, in blocks of whole lines, of bounded size, with the way back to every line.

A block's text is clean: lines end in a single line feed, colours are gone, each step of a
carriage-return progress bar is a line of its own, and JSON lines are unwrapped to their message.
Line numbers and byte offsets always speak of the original file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import BinaryIO

import numpy as np

from diagnosis.readers.logs_decoding import open_text, widths_in
from diagnosis.readers.logs_heads import Head, merged, parse_head
from diagnosis.readers.logs_json import is_json_log, unwrap

#: Bytes that are read at once; a block may be longer by one line.
BLOCK_BYTES = 1 << 20

#: A line is cut after this many bytes; what follows counts as a further piece of the same line.
MAX_LINE_BYTES = 1 << 16

_COLOUR = re.compile(
    rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n\r]*(?:\x07|\x1b\\)|[@-Z\\^_])|\x1b"
)
#: Colour codes whose escape character was lost on the way (`[36m(raylet)[0m`).
_BARE_COLOUR = re.compile(r"\^?\[\d{1,3}(?:;\d{1,3})*m")


@dataclass
class Block:
    """Whole lines of one file.

    `first_number`: number of the first line, from 1; `first_offset`: its byte in the file.
    `numbers` and `offsets` hold a value per line where cleaning moved things, else None; `heads`
    what the JSON around each message told.
    """

    text: bytes
    first_number: int
    first_offset: int
    numbers: "np.ndarray | None" = None
    offsets: "np.ndarray | None" = None
    heads: list[Head] | None = None
    _parsed: dict[int, "Line"] = field(default_factory=dict)

    @cached_property
    def starts(self) -> "np.ndarray":
        """Where each line begins in `text`."""
        breaks = np.flatnonzero(np.frombuffer(self.text, np.uint8) == 10)
        starts = np.concatenate(([0], breaks + 1))
        return starts[:-1] if self.text.endswith(b"\n") else starts

    def __len__(self) -> int:
        return len(self.starts) if self.text else 0

    def index_at(self, position: int) -> int:
        """Which line holds the byte at `position` of `text`."""
        return int(np.searchsorted(self.starts, position, side="right")) - 1

    def number(self, index: int) -> int:
        return int(self.numbers[index]) if self.numbers is not None else self.first_number + index

    def offset(self, index: int) -> int:
        if self.offsets is not None:
            return int(self.offsets[index])
        return self.first_offset + int(self.starts[index])

    def line(self, index: int) -> "Line":
        """The line as text with its prefixes parsed."""
        if index not in self._parsed:
            start = int(self.starts[index])
            end = self.text.find(b"\n", start, start + MAX_LINE_BYTES)
            raw = self.text[start : end if end >= 0 else start + MAX_LINE_BYTES]
            text = _BARE_COLOUR.sub("", _as_text(raw))
            head = parse_head(text)
            if self.heads is not None:
                head = merged(self.heads[index], head)
            self._parsed[index] = Line(text, head)
        return self._parsed[index]


@dataclass(frozen=True, slots=True)
class Line:
    """One line as text, and what stands before its message."""

    text: str
    head: Head

    @property
    def message(self) -> str:
        return self.text[self.head.end :]


def _as_text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def read_blocks(stream: BinaryIO, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """The stream's lines in blocks. Any bytes are accepted; only the stream itself raises."""
    encoding, mark, chunks = open_text(stream, block_bytes)
    number, offset, json_lines = 1, mark, None
    for data in _whole_lines(chunks, block_bytes):
        if json_lines is None and data.strip():
            json_lines = is_json_log(data)
        widths = widths_in(data, encoding) if encoding else None
        block = _block(data, number, offset, widths)
        yield _unwrapped(block) if json_lines else block
        number += data.count(b"\n")
        offset += int(widths.sum()) if widths is not None else len(data)


def _whole_lines(chunks: Iterator[bytes], block_bytes: int) -> Iterator[bytes]:
    """The chunks cut at line ends; a line longer than a block is cut where it must be."""
    carry = b""
    for chunk in chunks:
        data = carry + chunk
        cut = data.rfind(b"\n") + 1
        if not cut and len(data) > block_bytes:
            cut = data.rfind(b"\r", 0, -1) + 1 or len(data)
        if cut:
            yield data[:cut]
        carry = data[cut:]
    if carry:
        yield carry


def _block(data: bytes, number: int, offset: int, widths: "np.ndarray | None") -> Block:
    """A block of `data`, with numbers and offsets of their own where cleaning moves things."""
    if widths is None and b"\r" not in data and b"\x1b" not in data:
        return Block(data, number, offset)
    raw = np.frombuffer(data, np.uint8)
    feeds = raw == 10
    returns = raw == 13
    returns[:-1] &= ~feeds[1:]
    breaks = np.flatnonzero(feeds | returns)
    starts = np.concatenate(([0], breaks + 1))
    if len(breaks) and breaks[-1] == len(raw) - 1:
        starts = starts[:-1]
    line_of = np.concatenate(([0], np.cumsum(feeds)))[starts]
    if widths is None:
        offsets = offset + starts
    else:
        offsets = offset + np.concatenate(([0], np.cumsum(widths)))[line_of]
    text = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\x1b" in text:
        text = _COLOUR.sub(b"", text)
    return Block(text, number, offset, number + line_of, offsets)


def _unwrapped(block: Block) -> Block:
    """The block of a JSON-lines log, each line replaced by the lines of its message."""
    lines: list[bytes] = []
    origins: list[int] = []
    heads: list[Head] = []
    for index in range(len(block)):
        start = int(block.starts[index])
        end = block.text.find(b"\n", start)
        head, message = unwrap(block.text[start : end if end >= 0 else len(block.text)])
        for part in message.split(b"\n"):
            lines.append(part)
            origins.append(index)
            heads.append(head)
    numbers = np.array([block.number(index) for index in origins], np.int64)
    offsets = np.array([block.offset(index) for index in origins], np.int64)
    text = b"".join(line + b"\n" for line in lines)
    return Block(text, block.first_number, block.first_offset, numbers, offsets, heads)
