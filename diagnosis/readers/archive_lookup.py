"""One file in an archive, found again by the path that its findings are told with."""

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from diagnosis.core.evidence import Evidence
from diagnosis.readers.archive_members import (
    BROKEN,
    BrokenArchive,
    InnerNames,
    Member,
    inner_path,
    is_a_desktops,
)
from diagnosis.readers.archive_tar import members_of_tar
from diagnosis.readers.archive_zip import members_of_zip
from diagnosis.readers.archives import archive_in
from diagnosis.readers.compression import decompressed

#: A zip, and an archive in an archive, is copied to be looked into: at most so many bytes.
COPY_BYTES = 1 << 30
_CHUNK_BYTES = 1 << 18


@contextmanager
def inner_file(archive: Evidence, path: str) -> Iterator[IO[bytes]]:
    """The content of the file that reading the archive called `path`, as a stream.

    Raises `BrokenArchive` where it cannot be reached; the message says why.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="aegis-"))
        found = _Lookup(stack, Path(folder)).find(archive, path)
        if found is None:
            raise BrokenArchive(f"the archive has no file {path}")
        yield found


class _Lookup:
    """The search for one file; streams stay open for as long as the stack does."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack, self._folder = stack, folder
        self._names = InnerNames()
        self._copies = 0

    def find(self, archive: Evidence, path: str) -> IO[bytes] | None:
        """Its content; None where no member has that path."""
        try:
            for member in self._stack.enter_context(closing(self._members(archive))):
                inner = inner_path(member.name)
                if member.content is None or is_a_desktops(inner):
                    continue
                name = self._names.name(archive.name, inner)
                if name == path:
                    return member.content
                if path.startswith(f"{name}/") and (found := self._within(member, name, path)):
                    return found
        except BROKEN as error:
            raise BrokenArchive(str(error)) from error
        return None

    def _within(self, member: Member, name: str, path: str) -> IO[bytes] | None:
        if member.content is None:
            return None
        inner = Evidence.from_path(self._copied(member.content), name)
        return self.find(inner, path) if archive_in(inner) else None

    def _members(self, archive: Evidence) -> Generator[Member, None, None]:
        stream = self._stack.enter_context(decompressed(archive).open())
        if archive_in(archive) == "tar":
            return members_of_tar(stream)
        return members_of_zip(self._stack.enter_context(self._copied(stream).open("rb")))

    def _copied(self, content: IO[bytes]) -> Path:
        path = self._folder / str(self._copies)
        self._copies += 1
        room = COPY_BYTES
        with path.open("wb") as file:
            while chunk := content.read(_CHUNK_BYTES):
                room -= len(chunk)
                if room < 0:
                    raise BrokenArchive("the archive is too large to look into")
                file.write(chunk)
        return path
