"""Evidence that arrives compressed is read as what it holds: gzip, zstd, xz or bzip2, by magic."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO, cast

import zstandard

from diagnosis.core.evidence import Evidence

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_XZ, _BZIP2 = b"\xfd7zXZ\0", b"BZh"
#: What unpacking xz may take: its highest preset takes 65 MiB, a hostile file asks for gigabytes.
_XZ_MEMORY_BYTES = 256 * 1024**2
_CHUNK_BYTES = 64 * 1024
#: The longest header of a frame (RFC 8878 section 3.1.1.1), which may tell the content's size.
_ZSTD_HEAD_BYTES = 18
_BUFFER_BYTES = 128 * 1024
_SUFFIXES = (".gz", ".zst", ".zstd", ".xz", ".bz2")
_BROKEN = (zlib.error, lzma.LZMAError, zstandard.ZstdError)


def decompressed(evidence: Evidence) -> Evidence:
    """The same evidence with its compression taken off, its name without the suffix.

    Nothing is read yet beyond a header. Of a file that was cut off, what can be decompressed is
    read (`is_cut_off`); a stream that is broken otherwise raises `OSError` where it is read.
    """
    if evidence.size < 4:
        return evidence
    with evidence.open() as stream:
        magic = stream.read(_ZSTD_HEAD_BYTES)
    if magic.startswith(_GZIP):
        return replace(evidence, open=_Unpacked(evidence.open, _gunzip))
    if magic.startswith(_ZSTD):
        unpack = partial(_unzstd, size=_told_size(magic))
        return replace(evidence, open=_Unpacked(evidence.open, unpack))
    if magic.startswith(_XZ):
        return replace(evidence, open=_Unpacked(evidence.open, _unxz))
    if magic.startswith(_BZIP2):
        return replace(evidence, open=_Unpacked(evidence.open, _bunzip2))
    return evidence


def name_inside(name: str) -> str:
    """The name of the file inside a compressed one: `node-01.log.gz` is about `node-01.log`."""
    return next((name.removesuffix(end) for end in _SUFFIXES if name.endswith(end)), name)


def is_cut_off(evidence: Evidence) -> bool:
    """Whether reading this met the end of a compressed file before the end of what it holds."""
    return isinstance(evidence.open, _Unpacked) and evidence.open.is_cut


@dataclass(slots=True)
class _Unpacked:
    """Opens what a compressed file holds, and notes where a stream of it was cut off."""

    raw: Callable[[], BinaryIO]
    unpack: Callable[[BinaryIO], "_UpToTheBreak"]
    is_cut: bool = False

    def __call__(self) -> BinaryIO:
        """A fresh stream."""
        stream = self.unpack(self.raw())
        stream.on_cut = self._note
        return io.BufferedReader(stream, _BUFFER_BYTES)

    def _note(self) -> None:
        self.is_cut = True


class _UpToTheBreak(io.RawIOBase):
    """What comes out of a decompressor until its input ends, in time or not.

    `size` is how many bytes there should be, where the file says it; 0 where it does not. Where
    nothing came out at all, the decompressor's `EOFError` is raised.
    """

    def __init__(self, source: BinaryIO, raw: BinaryIO, size: int = 0) -> None:
        super().__init__()
        self._source, self._raw, self._size, self._got = source, raw, size, 0
        self.on_cut: Callable[[], None] = _nobody_asks

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes; 0 at the end and at the break."""
        try:
            data = self._source.read1(len(buffer))  # type: ignore[attr-defined]
        except EOFError:
            if not self._got:
                raise
            self.on_cut()
            return 0
        except _BROKEN as error:
            raise OSError(f"the compressed data is broken: {error}") from error
        if not data and self._got < self._size:
            self.on_cut()
        self._got += len(data)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Closes the file beneath it as well."""
        self._source.close()
        self._raw.close()
        super().close()


def _nobody_asks() -> None:
    """A stream that was not opened for evidence."""


def _gunzip(raw: BinaryIO) -> _UpToTheBreak:
    return _UpToTheBreak(cast("BinaryIO", gzip.GzipFile(fileobj=raw)), raw)


def _bunzip2(raw: BinaryIO) -> _UpToTheBreak:
    return _UpToTheBreak(cast("BinaryIO", bz2.BZ2File(raw)), raw)


def _unxz(raw: BinaryIO) -> _UpToTheBreak:
    return _UpToTheBreak(cast("BinaryIO", _Xz(raw)), raw)


class _Xz:
    """What `lzma.LZMAFile` does, within bounded memory."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._decompressor = self._new()

    def _new(self) -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)

    def read1(self, size: int) -> bytes:
        """The next bytes, at most `size`; empty at the end. Streams may follow one another."""
        while True:
            given = b""
            if self._decompressor.eof:
                given = self._decompressor.unused_data.lstrip(b"\0")
                given = given or self._raw.read(_CHUNK_BYTES).lstrip(b"\0")
                if not given:
                    return b""
                self._decompressor = self._new()
            elif self._decompressor.needs_input:
                given = self._raw.read(_CHUNK_BYTES)
                if not given:
                    raise EOFError("the end of the compressed file is missing")
            data = self._decompressor.decompress(given, size)
            if data:
                return data

    def close(self) -> None:
        """There is nothing to close but the file beneath."""


def _told_size(head: bytes) -> int:
    """How many bytes the first zstd frame holds, by its header; 0 where it does not say."""
    try:
        return max(0, int(zstandard.frame_content_size(head)))
    except zstandard.ZstdError:
        return 0


def _unzstd(raw: BinaryIO, size: int) -> _UpToTheBreak:
    reader = zstandard.ZstdDecompressor(max_window_size=128 * 1024**2)
    stream = reader.stream_reader(raw, read_across_frames=True)
    return _UpToTheBreak(cast("BinaryIO", stream), raw, size)
