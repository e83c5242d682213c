"""Encodings of logs: 8-bit text stays as it is; UTF-16 and UTF-32 become UTF-8 on the way."""

import codecs
from collections.abc import Callable, Iterator
from functools import partial
from io import BufferedIOBase, BytesIO
from typing import BinaryIO, cast

import numpy as np

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, ""),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


#: Appends the next text to a buffer; False at the end, when there is none.
Appender = Callable[[BytesIO], bool]


def open_text(stream: BinaryIO, chunk_bytes: int) -> tuple[str, int, Appender]:
    """Encoding ("" for 8-bit text), length of the byte-order mark, and what gives the text.

    Wide encodings are given as UTF-8. What cannot be decoded is replaced, never raised.
    """
    head = _read(stream, chunk_bytes)
    more = chunk_bytes if len(head) == chunk_bytes else 0
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            rest = head[len(mark) :]
            if not encoding:
                return "", len(mark), _AsItIs(stream, rest, more)
            texts = _recoded(_chunks(stream, rest, chunk_bytes), encoding)
            return encoding, len(mark), partial(_append_next, texts)
    return "", 0, _AsItIs(stream, head, more)


def _append_next(texts: Iterator[bytes], buffer: BytesIO) -> bool:
    return buffer.write(next(texts, b"")) > 0


class _AsItIs:
    """Appends a stream's bytes, each read right to where it stays.

    `head` was read already and comes first, then up to `chunk_bytes` at once; 0 for no more.
    """

    def __init__(self, stream: BinaryIO, head: bytes, chunk_bytes: int) -> None:
        self._stream = cast("BufferedIOBase", stream)
        self._head = head
        self._room = bytes(chunk_bytes)

    def __call__(self, buffer: BytesIO) -> bool:
        """Append the next bytes, also from streams that give less than asked for."""
        if self._head:
            buffer.write(self._head)
            self._head = b""
            return True
        begin = end = buffer.tell()
        buffer.write(self._room)
        with buffer.getbuffer() as view:
            while end < len(view):
                with view[end:] as missing:
                    given = self._stream.readinto(missing)
                if not given:
                    break
                end += given
        buffer.truncate(end)
        return end > begin


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


def _chunks(stream: BinaryIO, head: bytes, chunk_bytes: int) -> Iterator[bytes]:
    chunk = head
    while chunk:
        yield chunk
        chunk = _read(stream, chunk_bytes)


def _recoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for chunk in chunks:
        text = decoder.decode(chunk)
        if text:
            yield text.encode("utf-8", "replace")
    rest = decoder.decode(b"", final=True)
    if rest:
        yield rest.encode("utf-8", "replace")
