"""Members of a tar archive, as a stream: nothing is sought, and no header makes it read at once
what the archive wants."""

import tarfile
from collections.abc import Generator
from typing import BinaryIO, Self

from diagnosis.readers.archive_members import BROKEN, NO_CONTENT, BrokenArchive, Member

#: Headers that hold long names and the like are read at once; real ones take some hundred bytes.
_MAX_EXTENSION_BYTES = 1 << 20
_EXTENSIONS = frozenset(
    [
        tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK,
    ]
)  # fmt: skip


class _Header(tarfile.TarInfo):
    """A header of a member, refused where reading what follows it would take too much memory, and
    where the archive breaks off: `tarfile` takes that for its end.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        if len(buf) < tarfile.BLOCKSIZE:
            raise tarfile.ReadError("its end is missing")
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if any(buf):
                raise tarfile.ReadError(str(error)) from error
            raise
        if header.type in _EXTENSIONS and header.size > _MAX_EXTENSION_BYTES:
            raise tarfile.ReadError(f"a header of {header.size:,} bytes")
        return header


def members_of_tar(stream: BinaryIO) -> Generator[Member, None, None]:
    """Its members in order. Raises `BrokenArchive` where it goes no further."""
    try:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as archive:
            for header in archive:
                archive.members = []  # type: ignore[attr-defined]
                yield _member(archive, header)
    except BROKEN as error:
        raise BrokenArchive(str(error) or type(error).__name__) from error


def _member(archive: tarfile.TarFile, header: tarfile.TarInfo) -> Member:
    if header.isdir():
        return Member(header.name)
    if not header.isfile() or header.issparse():
        return Member(header.name, reason=NO_CONTENT)
    return Member(header.name, archive.extractfile(header))
