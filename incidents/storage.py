"""The evidence store: bytes under their SHA-256, compressed, written whole or not at all."""

import contextlib
import errno
import hashlib
import io
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

import zstandard
from django.conf import settings

from incidents.exceptions import BlobMissing, EvidenceTooLarge, StorageFull

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_CHUNK = 1024 * 1024
_LEVEL = 3
#: An unfinished file older than this was left by a process that died.
_ABANDONED_S = 24 * 3600
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


class Readable(Protocol):
    """Anything that gives bytes in pieces: an upload, a file, a response."""

    def read(self, size: int = ..., /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Stored:
    """What was stored: hash and size of the bytes given, and their size on disk, in bytes."""

    sha256: str
    size: int
    stored_size: int


def store(stream: Readable) -> Stored:
    """Stores exactly the bytes of `stream`; the same bytes are kept once.

    A killed process leaves at most an unfinished file in the store's `tmp` folder, which a later
    call removes. Raises `EvidenceTooLarge` over `EVIDENCE_MAX_BYTES` and `StorageFull` where the
    disk has no room; neither leaves anything behind.
    """
    waiting = _root() / "tmp"
    try:
        waiting.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(waiting)
        with _temporary(waiting) as (temporary, path):
            sha256, size = _compress(stream, temporary)
            stored_size = _publish(path, sha256)
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise StorageFull("The evidence store is full; nothing was kept.") from error
        raise
    return Stored(sha256=sha256, size=size, stored_size=stored_size)


def open_blob(sha256: str, *, size: int | None = None) -> BinaryIO:
    """The bytes as they were given, streamed.

    Raises `BlobMissing` where they are not there, or (while reading) where the disk spoilt them;
    that the end is missing shows only where `size` is given.
    """
    try:
        compressed = path_of(sha256).open("rb")
    except FileNotFoundError as error:
        raise BlobMissing(f"The evidence store does not hold {sha256}.") from error
    return io.BufferedReader(_Decompressed(compressed, sha256, size), buffer_size=_CHUNK)


def remove(sha256: str) -> None:
    """Deletes the bytes; nothing where they are gone already."""
    path_of(sha256).unlink(missing_ok=True)


def path_of(sha256: str) -> Path:
    """Where these bytes lie: two levels of folders, so that none grows large."""
    return _root() / sha256[:2] / sha256[2:4] / f"{sha256}.zst"


class _Decompressed(io.RawIOBase):
    """A compressed file as a raw stream of its content, damage told as `BlobMissing`."""

    def __init__(self, compressed: BinaryIO, sha256: str, size: int | None) -> None:
        self._compressed = compressed
        self._reader = zstandard.ZstdDecompressor().stream_reader(compressed, closefd=False)
        self._sha256 = sha256
        self._missing = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        try:
            read = self._reader.readinto(buffer)
        except zstandard.ZstdError as error:
            raise BlobMissing(f"Stored bytes {self._sha256} are damaged: {error}") from error
        if self._missing is not None:
            self._missing -= read
            if read == 0 and self._missing:
                raise BlobMissing(f"Stored bytes {self._sha256} are damaged: the end is missing")
        return read

    def close(self) -> None:
        self._compressed.close()
        super().close()


def _root() -> Path:
    return Path(settings.EVIDENCE_DIR)


@contextlib.contextmanager
def _temporary(folder: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A file to write, gone afterwards unless it was moved away."""
    handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, path
    finally:
        path.unlink(missing_ok=True)


def _compress(stream: Readable, target: BinaryIO) -> tuple[str, int]:
    """Writes the compressed bytes through to the disk; gives their hash and size."""
    limit = settings.EVIDENCE_MAX_BYTES
    digest, size = hashlib.sha256(), 0
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    with compressor.stream_writer(target, closefd=False) as writer:
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            if size > limit:
                raise EvidenceTooLarge(f"The file is larger than the {limit:,} bytes taken here.")
            digest.update(chunk)
            writer.write(chunk)
    target.flush()
    os.fsync(target.fileno())
    return digest.hexdigest(), size


def _publish(path: Path, sha256: str) -> int:
    """Moves a complete file to its place in one step, unless the bytes are there already."""
    place = path_of(sha256)
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)
        _sync_folder(place.parent)
    return place.stat().st_size


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_abandoned(folder: Path) -> None:
    oldest = time.time() - _ABANDONED_S
    for path in folder.glob("*.part"):
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < oldest:
                path.unlink()
