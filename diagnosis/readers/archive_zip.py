"""Members of a zip archive, from a file that can be sought."""

import stat
import zipfile
from collections.abc import Generator, Iterator
from typing import BinaryIO

from diagnosis.readers.archive_members import BROKEN, NO_CONTENT, BrokenArchive, Member

#: `zipfile` reads the whole directory at the archive's end, about 100 bytes for each member.
_MAX_DIRECTORY_BYTES = 32 * 1024**2
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_END_BYTES = 22
_TAIL_BYTES = (1 << 16) + _END_BYTES + 76
_ENCRYPTED = 0x1
_UNREADABLE = "damaged, or compressed in a way that is not read"
#: LZMA may ask for gigabytes of memory.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
_UNSEEN = 0xFFFFFFFF


def members_of_zip(file: BinaryIO) -> Generator[Member, None, None]:
    """Its members in order. Raises `BrokenArchive` where it cannot be read."""
    if _directory_bytes(file) > _MAX_DIRECTORY_BYTES:
        raise BrokenArchive("its directory is too large")
    try:
        archive = zipfile.ZipFile(file)
    except BROKEN as error:
        raise BrokenArchive(str(error)) from error
    with archive:
        for info in archive.infolist():
            yield from _member(archive, info)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[Member]:
    if info.is_dir():
        yield Member(info.filename)
    elif info.flag_bits & _ENCRYPTED:
        yield Member(info.filename, reason="encrypted")
    elif stat.S_ISLNK(info.external_attr >> 16):
        yield Member(info.filename, reason=NO_CONTENT)
    elif info.compress_type not in _METHODS:
        yield Member(info.filename, reason=_UNREADABLE)
    else:
        try:
            content = archive.open(info)
        except BROKEN:
            yield Member(info.filename, reason=_UNREADABLE)
            return
        with content:
            yield Member(info.filename, content)


def _directory_bytes(file: BinaryIO) -> int:
    """How large the archive says that its directory is."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL_BYTES))
    tail = file.read(_TAIL_BYTES)
    told = [_number(tail, at + 12, 4) for at in _places(tail, _END)]
    told += [_number(tail, at + 40, 8) for at in _places(tail, _END_64)]
    file.seek(0)
    return max((one for one in told if one != _UNSEEN), default=0)


def _places(tail: bytes, mark: bytes) -> Iterator[int]:
    at = tail.find(mark)
    while at >= 0:
        yield at
        at = tail.find(mark, at + 1)


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")
