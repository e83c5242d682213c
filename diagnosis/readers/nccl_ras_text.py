"""A whole NCCL RAS answer in text, as the service gives it before JSON came (NCCL 2.24 to 2.28.6).

Of communicators it tells only those whose ranks differ, and of their ranks the outliers by name;
`diagnosis.readers.nccl_ras` reads the lines.
"""

import re
from collections.abc import Iterable

from diagnosis.core.collective_reports import Line, LostProcess, RasMismatch
from diagnosis.core.ras import UNKNOWN, LostRank, RasCommunicator, RasMember, RasProcess, RasStatus
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.nccl_ras import RasText

_VERSION = re.compile(r"NCCL version (\S+)")
_TABLE = re.compile(r"^Communicators\.\.\.", re.MULTILINE)
_TIMEOUT = re.compile(r"^\s*TIMEOUT\s*$", re.MULTILINE)
#: A communicator of more ranks is a broken line: its members are not spelled out.
_MOST_RANKS = 1 << 17


def read_ras_text(content: bytes) -> RasStatus:
    """The status in one text answer. Raises `UnreadableEvidence` for what is no status.

    Ranks that differ from the outliers are named one by one where their number leaves no doubt;
    their processes are not told.
    """
    text = content.decode("utf-8", "replace")
    if _TABLE.search(text) is None:
        raise UnreadableEvidence(f"no RAS status: it begins with {text[:80]!r}")
    reader = RasText()
    try:
        for number, line in enumerate(text.splitlines(), start=1):
            reader.take(Line("RAS", number, line))
    except ValueError as error:  # a number of thousands of digits
        raise UnreadableEvidence(f"a line of the RAS status is broken: {error}") from error
    mismatches, lost = reader.finish()
    version = _VERSION.search(text)
    notes = ["RAS answered in text, which tells only of communicators whose ranks differ"]
    if lost:
        notes.append(f"{len(lost)} processes did not answer")
    return RasStatus(
        communicators=tuple(_communicators(mismatches)),
        lost=tuple(_lost(process) for process in lost),
        nccl_version=version[1] if version else "",
        timeouts=len(_TIMEOUT.findall(text)),
        notes=tuple(notes),
    )


def _communicators(mismatches: Iterable[RasMismatch]) -> Iterable[RasCommunicator]:
    """One a communicator, its operation types joined."""
    by_name: dict[str, list[RasMismatch]] = {}
    for mismatch in mismatches:
        by_name.setdefault(mismatch.communicator, []).append(mismatch)
    for name, found in by_name.items():
        launched: dict[int, dict[str, int]] = {}
        processes: dict[int, RasProcess] = {}
        for mismatch in found:
            for rank, count in _counts(mismatch).items():
                launched.setdefault(rank, {})[mismatch.operation] = count
            processes |= _processes(mismatch)
        size = max(_size(mismatch) for mismatch in found)
        members = (
            RasMember(rank, processes.get(rank, RasProcess("")), launched[rank])
            for rank in sorted(launched)
        )
        yield RasCommunicator(name, size, tuple(members))


def _size(mismatch: RasMismatch) -> int:
    return sum(count.number for count in mismatch.counts)


def _counts(mismatch: RasMismatch) -> dict[int, int]:
    """Rank → launches: of those listed, and of all others where they share one count."""
    counts = {rank.rank: row.launched for row in mismatch.counts for rank in row.ranks}
    unlisted = [row for row in mismatch.counts if len(row.ranks) < row.number]
    size = _size(mismatch)
    if len(unlisted) == 1 and not unlisted[0].ranks and size <= _MOST_RANKS:
        others = set(range(size)) - counts.keys()
        if len(others) == unlisted[0].number:
            counts |= dict.fromkeys(others, unlisted[0].launched)
    return counts


def _processes(mismatch: RasMismatch) -> dict[int, RasProcess]:
    return {
        rank.rank: RasProcess(rank.node or "", cuda_device=_device(rank.gpu))
        for row in mismatch.counts
        for rank in row.ranks
    }


def _lost(process: LostProcess) -> LostRank:
    place = RasProcess(process.node, cuda_device=_device(process.gpu))
    return LostRank(UNKNOWN, place, dead=process.dead)


def _device(told: str | None) -> int:
    """The GPU's index; unknown where a process has several."""
    return int(told) if told is not None and told.isascii() and told.isdigit() else UNKNOWN
