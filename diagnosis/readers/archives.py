"""Archives among the evidence, zip and tar, unpacked to evidence of their own by inner path.

Members are written one after the other to numbered files of a folder of our own, never to a path
that the archive tells, within bounds on their number, their bytes and the depth of archives in
archives. Nothing in an archive raises: what is left out is told in words.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import starmap
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory
from typing import IO

from diagnosis.core.diagnosis import Skipped
from diagnosis.core.evidence import Evidence
from diagnosis.core.words import EvidenceKind
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
from diagnosis.readers.compression import decompressed
from diagnosis.readers.kinds import archive_of_head, kind_of

#: What the reason begins with where some of an archive was read and some was not.
IN_PART = "read in part: "

#: Of a member that is cut off, so much of its end may be lost.
_CHUNK_BYTES = 1 << 14
_HEAD_BYTES = 1 << 10
_NAMED = 3
_TOO_MANY = "too many members: the rest was not looked at"
_TOO_LARGE = "too large once unpacked: the rest was not read"
_DAMAGED = "cut off or damaged"
_NO_EVIDENCE = {
    EvidenceKind.UNKNOWN: "of a kind that Aegis does not read",
    EvidenceKind.EMPTY: "empty",
}


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What unpacking all archives of one call may take.

    `members` counts what is kept, `looked_at` all that is passed; `megabytes` is what is written,
    never more than half of what the disk has free. `depth`: archives in archives.
    """

    members: int = 10_000
    looked_at: int = 200_000
    megabytes: int = 4096
    depth: int = 2


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The evidence with archives replaced by what is in them, and what was left out."""

    evidence: tuple[Evidence, ...]
    skipped: tuple[Skipped, ...]


@contextmanager
def unpacked(
    evidence: Iterable[Evidence],
    limits: ArchiveLimits = ArchiveLimits(),
) -> Iterator[Unpacked]:
    """The evidence as long as the context lasts; whatever is no archive is passed on as it is."""
    with ExitStack() as stack:
        work = _Unpacking(stack, limits)
        for item in evidence:
            work.take(item)
        yield Unpacked(tuple(work.found), tuple(work.skipped()))


class _Unpacking:
    """The unpacking of one call's archives."""

    def __init__(self, stack: ExitStack, limits: ArchiveLimits) -> None:
        self.found: list[Evidence] = []
        self._stack, self._limits = stack, limits
        self._room = limits.megabytes * 1024**2
        self._written = self._looked_at = 0
        self._names = InnerNames()
        self._read: dict[str, int] = {}
        self._left_out: dict[str, dict[str, list[str]]] = {}

    @cached_property
    def _folder(self) -> Path:
        folder = TemporaryDirectory(prefix="aegis-", ignore_cleanup_errors=True)
        path = Path(self._stack.enter_context(folder))
        self._room = min(self._room, disk_usage(path).free // 2)
        return path

    def take(self, item: Evidence) -> None:
        """Take one piece of evidence, or what is in it."""
        if not archive_in(item):
            self.found.append(item)
            return
        self._read[item.name], self._left_out[item.name] = 0, defaultdict(list)
        self._unpack(item, item.name, depth=1)

    def skipped(self) -> Iterator[Skipped]:
        """One entry for each archive of which something was left out."""
        for archive, reasons in self._left_out.items():
            told = "; ".join(starmap(_told, reasons.items()))
            if not self._read[archive]:
                yield Skipped(archive, f"nothing in this archive can be read: {told or 'empty'}")
            elif told:
                yield Skipped(archive, f"{IN_PART}{told}")

    def _unpack(self, item: Evidence, archive: str, depth: int) -> None:
        """Take the members of an archive; `archive` is the one that was handed in."""
        left_out = self._left_out[archive]
        try:
            for member in self._members(item):
                self._looked_at += 1
                if over := self._over():
                    left_out[over].append("")
                    return
                self._take_member(item, member, archive, depth)
        except (BrokenArchive, *BROKEN) as error:
            left_out[f"{_DAMAGED} ({error})"].append("")

    def _over(self) -> str:
        """Which bound is reached; empty for none."""
        limits = self._limits
        if self._written >= limits.members or self._looked_at > limits.looked_at:
            return _TOO_MANY
        return "" if self._room > 0 else _TOO_LARGE

    def _members(self, item: Evidence) -> Iterator[Member]:
        with decompressed(item).open() as stream:
            if archive_in(item) == "tar":
                yield from members_of_tar(stream)
                return
            path = self._copied(stream)
            with path.open("rb") as file:
                yield from members_of_zip(file)
            path.unlink()

    def _take_member(self, outer: Evidence, member: Member, archive: str, depth: int) -> None:
        name = inner_path(member.name)
        left_out = self._left_out[archive]
        if member.reason:
            left_out[member.reason].append(name)
        if member.content is None or is_a_desktops(name):
            return
        path = self._copied(member.content, left_out, name)
        full = self._names.name(outer.name, name)
        inner = Evidence.from_path(path, full)
        inner = replace(inner, host=outer.host, rank=outer.rank, job=outer.job)
        if not archive_in(inner):
            if (reason := _why_not(inner)) is None:
                self._read[archive] += 1
                self.found.append(inner)
                return
            left_out[reason].append(name)
        elif depth < self._limits.depth:
            self._unpack(inner, archive, depth + 1)
        else:
            left_out["nested too deep"].append(name)
        path.unlink()

    def _copied(
        self, content: IO[bytes], left_out: dict[str, list[str]] | None = None, name: str = ""
    ) -> Path:
        """A file with the content, or with as much of it as there is and as there is room for.

        Where it is less, `left_out` is told of the member of that `name`; else damage raises.
        """
        path = self._folder / str(self._written)
        self._written += 1
        with path.open("wb") as file:
            try:
                while self._room > 0 and (chunk := content.read(min(_CHUNK_BYTES, self._room))):
                    self._room -= len(chunk)
                    file.write(chunk)
            except BROKEN:
                if left_out is None:
                    raise
                left_out[f"{_DAMAGED}, read up to there"].append(name)
        return path


def archive_in(item: Evidence) -> str:
    """What sort of archive this is, compressed or not; empty for none."""
    if item.kind not in {None, EvidenceKind.ARCHIVE}:
        return ""
    try:
        with decompressed(item).open() as stream:
            return archive_of_head(stream.read(_HEAD_BYTES))
    except (OSError, EOFError, ValueError):
        return ""


def _why_not(inner: Evidence) -> str | None:
    """Why a member is no evidence; None where it is."""
    try:
        return _NO_EVIDENCE.get(kind_of(decompressed(inner)))
    except (OSError, EOFError, ValueError):
        return _DAMAGED


def _told(reason: str, names: Sequence[str]) -> str:
    """`3 encrypted (a, b, c)`; the reason alone where it is the archive's."""
    named = [name for name in names if name]
    if not named:
        return reason
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return f"{len(named)} {reason} ({', '.join(named[:_NAMED])}{more})"
