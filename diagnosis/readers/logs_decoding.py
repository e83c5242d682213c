"""Encodings of logs: 8-bit text stays as it is; UTF-16 and UTF-32 become UTF-8 on the way."""

import codecs
import os
from collections.abc import Iterator
from io import BufferedReader, FileIO
from typing import BinaryIO

import numpy as np

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, ""),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


#: How far before the end of what is read of a file the last line feed is looked for.
_NEAR_BYTES = 1 << 12


def open_text(stream: BinaryIO, chunk_bytes: int) -> tuple[str, int, Iterator[bytes]]:
    """Encoding ("" for 8-bit text), length of the byte-order mark, and the text in chunks.

    Chunks of wide encodings are given as UTF-8. What cannot be decoded is replaced, never raised.
    Chunks of a file end with a line, where lines are not too long, so that nobody has to join them.
    """
    head = _read(stream, _up_to_feed(stream, chunk_bytes))
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            chunks = _chunks(stream, head[len(mark) :], chunk_bytes)
            return encoding, len(mark), _recoded(chunks, encoding) if encoding else chunks
    return "", 0, _chunks(stream, head, chunk_bytes)


def widths_in(data: bytes, encoding: str) -> "np.ndarray":
    """Bytes that each line of the UTF-8 `data` takes in `encoding`, its line feed included."""
    lines = data.decode("utf-8", "replace").split("\n")
    widths = [len((line + "\n").encode(encoding, "replace")) for line in lines]
    last = len(lines[-1].encode(encoding, "replace"))
    return np.array([*widths[:-1], last], np.int64)


def _read(stream: BinaryIO, size: int) -> bytes:
    """Up to `size` bytes, also from streams that give less than asked for."""
    parts: list[bytes] = []
    missing = size
    while missing > 0:
        part = stream.read(missing)
        if not part:
            break
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _up_to_feed(stream: BinaryIO, size: int) -> int:
    """How many bytes to read, `size` at most: of a file up to the last line feed among them."""
    if not isinstance(stream, BufferedReader) or not isinstance(stream.raw, FileIO):
        return size
    near = min(size, _NEAR_BYTES)
    if not stream.seekable():
        return size
    end = os.pread(stream.fileno(), near, stream.tell() + size - near)
    return size - near + (end.rfind(b"\n") + 1 or near)


def _chunks(stream: BinaryIO, head: bytes, chunk_bytes: int) -> Iterator[bytes]:
    chunk = head
    while chunk:
        yield chunk
        chunk = _read(stream, _up_to_feed(stream, chunk_bytes))


def _recoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for chunk in chunks:
        text = decoder.decode(chunk)
        if text:
            yield text.encode("utf-8", "replace")
    rest = decoder.decode(b"", final=True)
    if rest:
        yield rest.encode("utf-8", "replace")
