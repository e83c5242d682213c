"""Bytes of a log, in blocks of whole lines, of bounded size, with the way back to every line.

A block's text is clean: lines end in a single line feed, colours are gone, each step of a
carriage-return progress bar is a line of its own, and JSON lines are unwrapped to their message.
Line numbers and byte offsets always speak of the original file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
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

#: Windows line ends are looked for in this much of a block: text has them early or never.
PAIRED_WITHIN = 1 << 16

_COLOUR = re.compile(
    rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n\r]*(?:\x07|\x1b\\)|[@-Z\\^_])|\x1b"
)
#: Colour codes whose escape character was lost on the way (`[36m(raylet)[0m`).
_BARE_COLOUR_CORE = re.compile(r"\[\d{1,3}(?:;\d{1,3})*m")
_BARE_COLOUR = re.compile(r"\^?\[\d{1,3}(?:;\d{1,3})*m")


@dataclass
class Block:
    """Whole lines of one file.

    `first_number`: number of the first line, from 1; `first_offset`: its byte in the file. `raw` is
    the text before cleaning where that moved things, `widths` how many bytes each of its lines
    takes in the file where that is not its length; `heads` what the JSON around each message told.
    `lines_of_file`: how many lines of the file it holds. `paired`: carriage returns right before a
    line feed belong to it. Where lines stand in the file is worked out when someone asks: most
    blocks hold nothing of interest.
    """

    text: bytes
    first_number: int
    first_offset: int
    raw: bytes | None = None
    widths: "np.ndarray | None" = None
    origins: list[int] | None = None
    heads: list[Head] | None = None
    lines_of_file: int = 0
    paired: bool = False
    _parsed: dict[int, "Line"] = field(default_factory=dict)

    @cached_property
    def starts(self) -> "np.ndarray":
        """Where each line begins in `text`."""
        return _starts(self.text, _breaks(self.text))

    def __len__(self) -> int:
        return len(self.starts) if self.text else 0

    def index_at(self, position: int) -> int:
        """Which line holds the byte at `position` of `text`."""
        return int(np.searchsorted(self.starts, position, side="right")) - 1

    def number(self, index: int) -> int:
        """The number of a line in the file, from 1."""
        return self.first_number + self._lines_before(self._origin(index))

    def offset(self, index: int) -> int:
        """The byte of the file at which a line begins."""
        origin = self._origin(index)
        if self.widths is not None:
            return self.first_offset + int(self.widths[: self._lines_before(origin)].sum())
        return self.first_offset + int(self._starts_in_file[origin])

    def _origin(self, index: int) -> int:
        return index if self.origins is None else self.origins[index]

    def _lines_before(self, origin: int) -> int:
        """How many lines of the file stand before this one in the block."""
        return origin if self.raw is None else int(self._feeds_before[origin])

    @cached_property
    def _ends_in_file(self) -> "np.ndarray":
        """Where each line of the cleaned text ended before it was cleaned."""
        return _breaks(self.text if self.raw is None else self.raw, paired=self.paired)

    @cached_property
    def _starts_in_file(self) -> "np.ndarray":
        if self.raw is None:
            return self.starts
        return _starts(self.raw, self._ends_in_file)

    @cached_property
    def _feeds_before(self) -> "np.ndarray":
        raw = np.frombuffer(self.raw or b"", np.uint8)
        return np.concatenate(([0], np.cumsum(raw[self._ends_in_file] == 10)))

    def line(self, index: int) -> "Line":
        """The line as text with its prefixes parsed."""
        return self.line_at(int(self.starts[index]))

    def line_at(self, start: int) -> "Line":
        """The line that begins at byte `start` of `text`."""
        line = self._parsed.get(start)
        if line is None:
            line = parsed_line(self.bytes_at(start))
            if self.heads is not None:
                head = merged(self.heads[self.index_at(start)], line.head)
                line = Line(line.text, head, line.data)
            self._parsed[start] = line
        return line

    def bytes_at(self, start: int) -> bytes:
        """The bytes of the line that begins at byte `start`, up to MAX_LINE_BYTES."""
        end = self.text.find(b"\n", start, start + MAX_LINE_BYTES)
        return self.text[start : end if end >= 0 else start + MAX_LINE_BYTES]

    def starts_before(self, start: int, most: int) -> Iterator[int]:
        """Starts of up to `most` lines before byte `start`, the nearest first."""
        for _ in range(most):
            if start <= 0:
                return
            start = self.text.rfind(b"\n", 0, start - 1) + 1
            yield start


@dataclass(frozen=True, slots=True)
class Line:
    """One line as text, and what stands before its message; `data` is the text in UTF-8."""

    text: str
    head: Head
    data: bytes

    @property
    def message(self) -> str:
        return self.text[self.head.end :]

    @property
    def message_data(self) -> bytes:
        """The message in UTF-8."""
        if len(self.data) == len(self.text):
            return self.data[self.head.end :]
        return self.message.encode()


def parsed_line(raw: bytes) -> Line:
    """A line's bytes as text with its prefixes parsed."""
    text = _as_text(raw)
    if _BARE_COLOUR_CORE.search(text):
        text = _BARE_COLOUR.sub("", text)
    data = raw if text.isascii() and len(text) == len(raw) else text.encode()
    return Line(text, parse_head(text), data)


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
        feeds = line_feeds(data)
        block = _block(data, number, offset, widths)
        block.lines_of_file = feeds + (not data.endswith(b"\n"))
        yield _unwrapped(block) if json_lines else block
        number += feeds
        offset += int(widths.sum()) if widths is not None else len(data)


def line_feeds(data: bytes) -> int:
    """How many line feeds there are; some times quicker than `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == 10))


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
    """A block of `data` cleaned: single line feeds at line ends, no colours."""
    text, paired = data, False
    if b"\r" in text:
        paired = b"\r\n" in text[:PAIRED_WITHIN]
        text = text.replace(b"\r\n", b"\n") if paired else text
        text = text.replace(b"\r", b"\n")
    if b"\x1b" in text:
        text = _COLOUR.sub(b"", text)
    raw = None if text is data else data
    return Block(text, number, offset, raw, widths, paired=paired)


def _unwrapped(block: Block) -> Block:
    """The block of a JSON-lines log, each line replaced by the lines of its message."""
    lines: list[bytes] = []
    origins: list[int] = []
    heads: list[Head] = []
    for index, raw in enumerate(block.text.removesuffix(b"\n").split(b"\n")):
        head, message = unwrap(raw)
        for part in message.split(b"\n"):
            lines.append(part)
            origins.append(index)
            heads.append(head)
    text = b"".join(line + b"\n" for line in lines)
    raw_text = block.text if block.raw is None else block.raw
    return replace(block, text=text, raw=raw_text, origins=origins, heads=heads, _parsed={})
