"""What readers of archives give: one member after the other, and why some are left out."""

import lzma
import tarfile
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO

import zstandard

#: Members' names beyond so many characters keep their end.
MAX_NAME = 300


#: Why links, devices and the like are left out.
NO_CONTENT = "of no content, such as links"

#: What reading an archive or a member of it raises where its bytes are broken.
BROKEN = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, zstandard.ZstdError,
    OSError, EOFError, ValueError, NotImplementedError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an archive by its inner path.

    `content` may be read until the next member is asked for; None where the member cannot be
    taken, for the `reason`, and for folders, which have none.
    """

    name: str
    content: IO[bytes] | None = None
    reason: str = ""


class BrokenArchive(Exception):  # noqa: N818 - named for what the person reads
    """The archive cannot be read, or not any further. The message says why."""


def inner_path(name: str) -> str:
    """A member's path without climbing, roots, drives and control characters."""
    plain = "".join(one if one.isprintable() else "_" for one in name.replace("\\", "/"))
    parts = [part for part in plain.split("/") if part not in {"", ".", ".."}]
    return "/".join(parts)[-MAX_NAME:] or "member"


@dataclass(slots=True)
class InnerNames:
    """The names that members get, each once; the same ones whenever they are given in order."""

    _given: set[str] = field(default_factory=set)

    def name(self, outer: str, inner: str) -> str:
        """`inner` below the archive; where that was given, with a number before its last part."""
        unique = name = f"{outer}/{inner}"
        copy = 1
        while unique in self._given:
            copy += 1
            unique = f"{PurePosixPath(name).parent}/{copy}/{PurePosixPath(name).name}"
        self._given.add(unique)
        return unique


def is_a_desktops(name: str) -> bool:
    """What desktops add to archives of their own accord."""
    path = PurePosixPath(name)
    return path.parts[0] == "__MACOSX" or path.name.startswith("._") or path.name == ".DS_Store"
