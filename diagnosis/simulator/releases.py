"""Which PyTorch and NCCL wrote which version of a dump and which wording of a log line."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Release:
    """One pairing of PyTorch, NCCL and Flight Recorder.

    `library_key` names the communication library's version in a dump, None before it was written.
    `lines` are the source lines that `ProcessGroupNCCL.cpp` gives in its log prefix.
    """

    fr_version: str
    torch: str
    nccl: str
    library_key: str | None
    has_threads: bool
    says_failure: bool
    has_pg_guid: bool
    lines: Mapping[str, int]


_NAMES = ("timeout", "status", "trace", "corrupt", "down", "signal", "observed", "dump", "end")


def _lines(*numbers: int) -> dict[str, int]:
    return dict(zip(_NAMES, numbers, strict=True))


_OLD = _lines(607, 1664, 621, 621, 627, 1391, 1321, 1153, 1515)
_MIDDLE = _lines(616, 1785, 630, 630, 636, 1743, 1683, 1533, 1895)
_NEW = _lines(632, 2268, 670, 684, 698, 1870, 1806, 1589, 2057)

_RELEASES = {
    release.fr_version: release
    for release in (
        Release("2.2", "2.4.1", "2.20.5", None, False, False, False, _OLD),
        Release("2.4", "2.6.0", "2.21.5", None, False, False, True, _MIDDLE),
        Release("2.7", "2.7.1", "2.26.2", "nccl_version", False, True, True, _NEW),
        Release("2.9", "2.8.0", "2.27.3", "nccl_version", True, True, True, _NEW),
        Release("2.10", "2.9.1", "2.27.5", "comm_lib_version", True, True, True, _NEW),
        Release("2.11", "2.13.0", "2.28.9", "comm_lib_version", True, True, True, _NEW),
    )
}


def release_of(fr_version: str) -> Release:
    return _RELEASES[fr_version]
