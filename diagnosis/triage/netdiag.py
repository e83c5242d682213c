"""Rung 5, NetDiag: the host, NIC, switch or path that explains the bad cells of a ping matrix best.

Dong et al., "Evolution of Aegis", NSDI '25. Ours: probe sizes are part of the evidence. A real
fault dropped only packets over 1 KB, so a clean matrix of small probes is not a clean network.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from diagnosis.core.pings import End, Probe
from diagnosis.core.topology import Topology
from diagnosis.triage.settings import TriageSettings

#: Kinds of places, the most specific first: at equal evidence it is named.
KINDS = ("path", "nic", "host", "uplink", "switch", "pod", "between pods")


@dataclass(frozen=True, slots=True)
class Cell:
    """All probes of one size from one end to another; what made it bad, "" where nothing did."""

    source: End
    target: End
    size: int
    sent: int
    lost: int
    rtt: float | None
    tail: float | None
    first: Probe
    fault: str = ""

    @property
    def loss(self) -> float:
        return self.lost / self.sent if self.sent else 0.0


@dataclass(frozen=True, slots=True)
class Place:
    """A part of the network that probes pass."""

    kind: str
    name: str
    host: str | None = None
    nic: str | None = None
    peer: str | None = None


@dataclass(frozen=True)
class Explanation:
    """How well a place explains the bad cells.

    `share`: of the bad cells that pass it; `purity`: bad ones among the cells that pass it.
    """

    place: Place
    cells: tuple[Cell, ...]
    share: float
    purity: float

    @property
    def fit(self) -> float:
        """Harmonic mean of share and purity."""
        total = self.share + self.purity
        return 2 * self.share * self.purity / total if total else 0.0


@dataclass(frozen=True)
class NetworkPicture:
    """What the matrix shows: all cells, the bad ones, and the places that explain them."""

    cells: tuple[Cell, ...]
    bad: tuple[Cell, ...]
    explanations: tuple[Explanation, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(sorted({cell.size for cell in self.cells}))

    @property
    def bad_sizes(self) -> tuple[int, ...]:
        return tuple(sorted({cell.size for cell in self.bad}))


def network_picture(
    probes: Iterable[Probe], topology: Topology, settings: TriageSettings
) -> NetworkPicture:
    """Bad cells and the few places that explain them, the best first.

    The order of the probes is no matter.
    """
    cells = _judged(_cells(probes), topology, settings)
    bad = tuple(cell for cell in cells if cell.fault)
    return NetworkPicture(cells, bad, tuple(_explained(cells, bad, topology, settings)))


def _cells(probes: Iterable[Probe]) -> list[Cell]:
    groups: dict[tuple[object, ...], list[Probe]] = {}
    for probe in probes:
        if probe.source.key != probe.target.key:
            key = (*probe.source.key, *probe.target.key, probe.size)
            groups.setdefault(key, []).append(probe)
    cells = []
    for _, rows in sorted(groups.items(), key=lambda item: str(item[0])):
        middle = [row.rtt_p50 for row in rows if row.rtt_p50 is not None]
        tail = [row.rtt_p99 for row in rows if row.rtt_p99 is not None]
        first = min(rows, key=lambda row: (row.file, row.line))
        cells.append(
            Cell(
                first.source,
                first.target,
                first.size,
                sum(row.sent for row in rows),
                sum(row.lost for row in rows),
                median(middle) if middle else None,
                median(tail) if tail else None,
                first,
            )
        )
    return cells


def _judged(
    cells: Sequence[Cell], topology: Topology, settings: TriageSettings
) -> tuple[Cell, ...]:
    """Cells are slow against the median of cells of the same size and distance."""
    groups: dict[tuple[int, int], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.size, _distance(cell, topology)), []).append(cell)
    return tuple(
        replace(cell, fault=fault)
        for group in groups.values()
        for cell, fault in zip(group, _faults(group, settings), strict=True)
    )


def _faults(group: Sequence[Cell], settings: TriageSettings) -> list[str]:
    usual, tail = _median(cell.rtt for cell in group), _median(cell.tail for cell in group)
    least = settings.ping_slow_us
    faults = []
    for cell in group:
        slow = _is_slow(cell.rtt, usual, settings.ping_slow, least)
        slow = slow or _is_slow(cell.tail, tail, settings.ping_slow_tail, least)
        lossy = cell.lost >= settings.ping_lost and cell.loss >= settings.ping_loss
        faults.append("loss" if lossy else "latency" if slow else "")
    return faults


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _is_slow(value: float | None, usual: float | None, factor: float, least: float) -> bool:
    if value is None or usual is None:
        return False
    return value > factor * usual and value - usual > least


def _distance(cell: Cell, topology: Topology) -> int:
    """0 under one ToR, 1 in one pod, 2 between pods or unknown."""
    one, other = topology.wiring_of(cell.source.host), topology.wiring_of(cell.target.host)
    if one is None or other is None:
        return 2
    if set(one.tors_of(cell.source.nic)) & set(other.tors_of(cell.target.nic)):
        return 0
    return 1 if one.pod == other.pod else 2


def places_of(cell: Cell, topology: Topology) -> set[Place]:
    """Every place whose fault would show in this cell."""
    places = {_path(cell)}
    for end in (cell.source, cell.target):
        places.add(Place("host", end.key[0], host=end.host))
        if end.nic:
            port = f"{end.host}/{end.nic}"
            peer = topology.far_ends.get(port)
            places.add(Place("nic", port, host=end.host, nic=end.nic, peer=peer))
    one, other = topology.wiring_of(cell.source.host), topology.wiring_of(cell.target.host)
    if one is None or other is None:
        return places
    tors, far = one.tors_of(cell.source.nic), other.tors_of(cell.target.nic)
    shared = set(tors) & set(far)
    passed = shared or {*tors, *far}
    places |= {Place("switch", tor) for tor in passed}
    if shared:
        return places
    places |= {Place("uplink", tor) for tor in passed}
    places |= {Place("pod", pod) for pod in (one.pod, other.pod) if pod}
    if one.pod and other.pod and one.pod != other.pod:
        first, second = sorted((one.pod, other.pod))
        places.add(Place("between pods", f"{first} and {second}", peer=second))
    return places


def _path(cell: Cell) -> Place:
    one, other = sorted((cell.source, cell.target), key=lambda end: str(end.key))
    names = [f"{end.host}/{end.nic}" if end.nic else end.host for end in (one, other)]
    return Place("path", names[0], host=one.host, nic=one.nic, peer=names[1])


def _explained(
    cells: Sequence[Cell], bad: Sequence[Cell], topology: Topology, settings: TriageSettings
) -> list[Explanation]:
    """Greedily: the place of the best fit, then the best for what is left, up to three.

    Cells that an explanation covers speak neither for nor against the next place.
    """
    passing: dict[Place, list[Cell]] = {}
    sizes = {cell.size for cell in bad}
    for cell in cells:
        if cell.size in sizes:
            for place in places_of(cell, topology):
                passing.setdefault(place, []).append(cell)
    found: list[Explanation] = []
    left = list(bad)
    while left and len(found) < settings.ping_places:
        best = _best(passing, left)
        if best is None:
            break
        found.append(best)
        covered = set(best.cells)
        left = [cell for cell in left if cell not in covered]
        if len(left) <= settings.ping_stray * len(bad):
            break
    return found


def _best(passing: Mapping[Place, Sequence[Cell]], left: Sequence[Cell]) -> Explanation | None:
    open_cells = set(left)
    candidates = []
    for place, cells in passing.items():
        hit = tuple(cell for cell in cells if cell in open_cells)
        if hit:
            judged = sum(1 for cell in cells if cell in open_cells or not cell.fault)
            candidates.append(
                Explanation(place, hit, len(hit) / len(open_cells), len(hit) / judged)
            )
    if not candidates:
        return None
    return max(
        candidates,
        key=lambda one: (
            round(one.fit, 3),
            -KINDS.index(one.place.kind),
            one.place.name,
            one.place.peer or "",
        ),
    )
