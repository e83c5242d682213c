"""A few lines out of a large file, whatever its encoding, with a bound on what is read."""

import bz2
import codecs
import gzip
import lzma
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol, cast

import zstandard

#: What is read at most to reach a line, and to show the lines around it, in bytes of content.
SCAN_LIMIT = 2 * 1024**3
_WINDOW_LIMIT = 4 * 1024**2
_CHUNK = 1024**2
#: Characters of a line that are shown.
LINE_LIMIT = 2000

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_XZ, _BZIP2 = b"\xfd7zXZ", b"BZh"
#: What unpacking xz may take: its highest preset takes 65 MiB, a hostile file asks for gigabytes.
_XZ_MEMORY = 256 * 1024**2
_COLOUR = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_CONTROL = {code: 0x2400 + code for code in range(32) if code != 9} | {0x7F: 0x2421}
#: Marks that change the direction of text could make a line read as something it is not.
_DIRECTION = dict.fromkeys((*range(8234, 8239), *range(8294, 8298)), 65533)


#: What reading raises where the bytes are broken.
_BROKEN = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zstandard.ZstdError)


class Stream(Protocol):
    """What gives bytes in pieces."""

    def read(self, size: int = ..., /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it can be shown; `cut` says that it goes on."""

    number: int
    text: str
    marked: bool
    cut: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines in order. `note` says in words what a reader has to know; `binary` has no lines."""

    lines: Sequence[Line] = ()
    more: bool = False
    binary: bool = False
    note: str = ""

    @property
    def first(self) -> int:
        return self.lines[0].number if self.lines else 0

    @property
    def last(self) -> int:
        return self.lines[-1].number if self.lines else 0


def excerpt(stream: BinaryIO, *, line: int, before: int, after: int, mark: bool = True) -> Excerpt:
    """The lines from `before` above to `after` below `line` (from 1), which is marked if wanted.

    Lines end in a line feed, as the findings count them. Compressed content (gzip, zstd, xz,
    bzip2) and UTF-16 are unpacked; what breaks on the way ends the excerpt with a note.
    """
    first = max(1, line - before)
    wanted = line + after - first + 1
    try:
        content = _unpacked(stream)
        rest = _skip(content, first - 1)
        if rest is None:
            return Excerpt(note=f"The file has no line {line:,}.")
        raw, more = _lines(content, rest, wanted)
    except _BROKEN as error:
        return Excerpt(note=f"Line {line:,} was not reached: {error}")
    if any(b"\0" in one for one in raw):
        return Excerpt(binary=True)
    note = "" if first + len(raw) > line else f"The file ends at line {first + len(raw) - 1:,}."
    shown = [
        _line(first + place, one, marked=mark and first + place == line)
        for place, one in enumerate(raw)
    ]
    return Excerpt(shown, more=more, note=note)


def _unpacked(stream: BinaryIO) -> Stream:
    head = stream.read(len(_XZ))
    whole: Stream = _Joined(head, stream)
    if head.startswith(_GZIP):
        whole = cast("Stream", gzip.GzipFile(fileobj=cast("BinaryIO", whole)))
    elif head.startswith(_BZIP2):
        whole = cast("Stream", bz2.BZ2File(cast("BinaryIO", whole)))
    elif head == _XZ:
        whole = _Xz(whole)
    elif head.startswith(_ZSTD):
        reader = zstandard.ZstdDecompressor(max_window_size=128 * 1024**2)
        whole = reader.stream_reader(cast("BinaryIO", whole), read_across_frames=True)
    if whole is not stream and head[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        return _AsUtf8(whole)
    return whole


class _Joined:
    """The first bytes, put back in front of the rest."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def read(self, size: int = -1, /) -> bytes:
        head, self._head = self._head, b""
        if not head:
            return self._rest.read(size)
        if 0 <= size < len(head):
            head, self._head = head[:size], head[size:]
            return head
        return head + self._rest.read(size - len(head) if size >= 0 else -1)


class _Xz:
    """What xz holds, within bounded memory. Streams may follow one another, padded with zeros."""

    def __init__(self, packed: Stream) -> None:
        self._packed = packed
        self._unpacker = self._new()

    def _new(self) -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)

    def read(self, size: int = _CHUNK, /) -> bytes:
        while True:
            given = b""
            if self._unpacker.eof:
                given = self._unpacker.unused_data.lstrip(b"\0")
                given = given or self._packed.read(_CHUNK).lstrip(b"\0")
                if not given:
                    return b""
                self._unpacker = self._new()
            elif self._unpacker.needs_input:
                given = self._packed.read(_CHUNK)
                if not given:
                    raise EOFError("the end of the compressed file is missing")
            if data := self._unpacker.decompress(given, size):
                return data


class _AsUtf8:
    """UTF-16 with a byte-order mark, as UTF-8."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")

    def read(self, size: int = -1, /) -> bytes:
        chunk = self._stream.read(size)
        return self._decoder.decode(chunk, final=not chunk).encode()


def _skip(stream: Stream, count: int) -> bytes | None:
    """What follows the first `count` lines in their last chunk; None where there are less."""
    read = 0
    while count:
        chunk = stream.read(_CHUNK)
        read += len(chunk)
        if read > SCAN_LIMIT:
            raise ValueError("only the first 2 GiB are searched; download the file instead")
        if not chunk:
            return None
        found = chunk.count(b"\n")
        if found >= count:
            return chunk.split(b"\n", count)[-1]
        count -= found
    return b""


def _lines(stream: Stream, buffer: bytes, wanted: int) -> tuple[list[bytes], bool]:
    """At most `wanted` lines, and whether the file goes on after them."""
    pieces, breaks, size = [buffer], buffer.count(b"\n"), len(buffer)
    while breaks <= wanted and size < _WINDOW_LIMIT and (chunk := stream.read(_CHUNK)):
        pieces.append(chunk)
        breaks += chunk.count(b"\n")
        size += len(chunk)
    lines = b"".join(pieces).split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return lines[:wanted], len(lines) > wanted


def _line(number: int, raw: bytes, *, marked: bool) -> Line:
    line = raw.rstrip(b"\r")
    piece = line[: 4 * LINE_LIMIT]
    text = _COLOUR.sub("", _decoded(piece)).translate(_CONTROL | _DIRECTION)
    cut = len(text) > LINE_LIMIT or len(piece) < len(line)
    return Line(number, text[:LINE_LIMIT], marked, cut)


def _decoded(piece: bytes) -> str:
    """UTF-8, or Latin-1 where it is not; a character that the cut broke at the end is left out."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(piece)
    except UnicodeDecodeError:
        return piece.decode("latin-1")
