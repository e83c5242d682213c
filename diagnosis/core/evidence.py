"""Evidence as the engine sees it: a name, bytes on demand, and what is known of their origin."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from diagnosis.core.words import EvidenceKind


@dataclass(frozen=True, slots=True)
class Evidence:
    """One stored piece of input.

    `open` gives a fresh binary stream each time, so that readers can stream. `host`, `rank` and
    `job` are what the uploader said; None leaves it to the content, then to the name
    (docs/contract.md, "Names in files"). `size` is in bytes.
    """

    name: str
    open: Callable[[], BinaryIO]
    size: int
    kind: EvidenceKind | None = None
    host: str | None = None
    rank: int | None = None
    job: str | None = None

    @classmethod
    def from_path(cls, path: Path, name: str | None = None) -> "Evidence":
        """Evidence from a file on disk, named by its path unless a name is given."""
        return cls(name=name or str(path), open=lambda: path.open("rb"), size=path.stat().st_size)
