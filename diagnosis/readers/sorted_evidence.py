"""Evidence sorted by what it holds; the small structured files are read at once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from diagnosis.core.configuration import Snapshot
from diagnosis.core.diagnosis import Skipped
from diagnosis.core.evidence import Evidence
from diagnosis.core.pings import Probe
from diagnosis.core.placement import Placement
from diagnosis.core.topology import Topology
from diagnosis.core.words import EvidenceKind
from diagnosis.readers.compression import decompressed, is_cut_off
from diagnosis.readers.configuration import read_snapshot, tells_faults
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.kinds import HEAD_BYTES, kind_of, why_unknown
from diagnosis.readers.pingmesh import read_pings
from diagnosis.readers.placement import read_placement
from diagnosis.readers.topology import read_topology

#: A placement or topology larger than this (bytes) is refused: 16,384 ranks take about 3 MB.
MAX_BYTES = 64 * 1024**2

#: What is said of a compressed file whose end is missing.
CUT_OFF = "cut off: the end of the compressed file is missing; what comes before it was read"

Read = TypeVar("Read")
Plan = TypeVar("Plan", Placement, Topology)


@dataclass(frozen=True, slots=True)
class SortedEvidence:
    """Evidence by what it holds, each list in name order, and what could not be used.

    `nvidia-smi -q` and `ibstat` tell faults, so they are logs as well as snapshots.
    """

    logs: tuple[Evidence, ...]
    dumps: tuple[Evidence, ...]
    counters: tuple[Evidence, ...]
    metrics: tuple[Evidence, ...]
    placement: Placement
    topology: Topology
    probes: tuple[Probe, ...]
    snapshots: tuple[Snapshot, ...]
    skipped: tuple[Skipped, ...]


def sort_by_kind(evidence: Iterable[Evidence]) -> SortedEvidence:
    """Open each piece just far enough to tell its kind; the order of the input does not matter."""
    by_kind, skipped = _by_kind(evidence)
    placement, no_placement = _first(
        by_kind.get(EvidenceKind.PLACEMENT, []), read_placement, Placement(), "placement"
    )
    topology, no_topology = _first(
        by_kind.get(EvidenceKind.TOPOLOGY, []), read_topology, Topology(), "topology"
    )
    matrices, no_matrices = _each(by_kind.get(EvidenceKind.PING_MATRIX, []), read_pings)
    configurations = by_kind.get(EvidenceKind.CONFIGURATION, [])
    snapshots, no_snapshots = _each(configurations, read_snapshot)
    tools = [item for item in configurations if tells_faults(item)]
    logs = [*by_kind.get(EvidenceKind.LOG, []), *tools]
    return SortedEvidence(
        logs=tuple(sorted(logs, key=lambda item: item.name)),
        dumps=tuple(by_kind.get(EvidenceKind.FLIGHT_RECORDER, [])),
        counters=tuple(by_kind.get(EvidenceKind.COUNTERS, [])),
        metrics=tuple(by_kind.get(EvidenceKind.METRICS, [])),
        placement=placement,
        topology=topology,
        probes=tuple(probe for matrix in matrices for probe in matrix),
        snapshots=tuple(snapshots),
        skipped=(*skipped, *no_placement, *no_topology, *no_matrices, *no_snapshots),
    )


def cut_off(given: SortedEvidence, unusable: Collection[Skipped]) -> Iterator[Skipped]:
    """The compressed files that were used as far as they go; asked once they have been read."""
    known = {item.file for item in unusable}
    for item in (*given.logs, *given.dumps, *given.counters, *given.metrics):
        if is_cut_off(item) and item.name not in known:
            yield Skipped(item.name, CUT_OFF)


def _by_kind(
    evidence: Iterable[Evidence],
) -> tuple[dict[EvidenceKind, list[Evidence]], list[Skipped]]:
    by_kind: dict[EvidenceKind, list[Evidence]] = {}
    skipped: list[Skipped] = []
    for item in sorted(evidence, key=lambda item: item.name):
        try:
            plain = decompressed(item)
            by_kind.setdefault(kind_of(plain), []).append(plain)
        except (OSError, EOFError, ValueError) as error:
            skipped.append(Skipped(item.name, f"cannot be opened: {error}"))
    skipped += [
        Skipped(item.name, "empty: the file has no content (0 bytes)")
        for item in by_kind.get(EvidenceKind.EMPTY, [])
    ]
    skipped += [
        Skipped(item.name, why_unknown(_head(item)))
        for kind in (EvidenceKind.UNKNOWN, EvidenceKind.ARCHIVE)
        for item in by_kind.get(kind, [])
    ]
    return by_kind, skipped


def _head(item: Evidence) -> bytes:
    with item.open() as stream:
        return stream.read(HEAD_BYTES)


def _each(
    files: Sequence[Evidence], reader: Callable[[Evidence], Read]
) -> tuple[list[Read], list[Skipped]]:
    found, skipped = [], []
    for item in files:
        try:
            found.append(reader(item))
        except (UnreadableEvidence, OSError, EOFError, ValueError) as error:
            skipped.append(Skipped(item.name, str(error)))
    return found, skipped


def _first(
    files: Sequence[Evidence], reader: Callable[[bytes], Plan], nothing: Plan, name: str
) -> tuple[Plan, list[Skipped]]:
    """The first file by name that can be read; there is one placement and one topology."""
    chosen, skipped = nothing, []
    for item in files:
        try:
            with item.open() as stream:
                content = stream.read(MAX_BYTES + 1)
            if len(content) > MAX_BYTES:
                raise UnreadableEvidence(f"{name} is larger than 64 MiB")
            found = reader(content)
        except (UnreadableEvidence, OSError, EOFError) as error:
            skipped.append(Skipped(item.name, str(error)))
            continue
        if len(chosen):
            skipped.append(Skipped(item.name, f"a second {name}; the first by name is used"))
        else:
            chosen = found
    return chosen, skipped
