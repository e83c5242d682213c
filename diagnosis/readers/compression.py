"""Evidence that arrives compressed is read as what it holds: gzip and zstd, told by their magic."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO, cast

import zstandard

from diagnosis.core.evidence import Evidence

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SUFFIXES = (".gz", ".zst", ".zstd")


def decompressed(evidence: Evidence) -> Evidence:
    """The same evidence with its compression taken off, its name without the suffix.

    Nothing is read yet beyond four bytes; a stream that breaks later raises where it is read.
    """
    if evidence.size < 4:
        return evidence
    with evidence.open() as stream:
        magic = stream.read(4)
    if magic.startswith(_GZIP):
        return replace(evidence, open=_opener(evidence.open, _gunzip))
    if magic == _ZSTD:
        return replace(evidence, open=_opener(evidence.open, _unzstd))
    return evidence


def name_inside(name: str) -> str:
    """The name of the file inside a compressed one: `node-01.log.gz` is about `node-01.log`."""
    return next((name.removesuffix(end) for end in _SUFFIXES if name.endswith(end)), name)


def _opener(
    raw: Callable[[], BinaryIO], unpack: Callable[[BinaryIO], BinaryIO]
) -> Callable[[], BinaryIO]:
    return lambda: unpack(raw())


class _Gunzip(gzip.GzipFile):
    """A gzip stream that closes the file beneath it, which `GzipFile` leaves to others."""

    def __init__(self, raw: BinaryIO) -> None:
        super().__init__(fileobj=raw)
        self._raw = raw

    def close(self) -> None:
        super().close()
        self._raw.close()


def _gunzip(stream: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", _Gunzip(stream))


def _unzstd(stream: BinaryIO) -> BinaryIO:
    reader = zstandard.ZstdDecompressor(max_window_size=128 * 1024**2)
    return cast("BinaryIO", reader.stream_reader(stream, read_across_frames=True))
