"""RootDiag: the graph of failed connections, and the one end that explains them.

Dong et al., "Evolution of Aegis", NSDI '25, algorithm 1, with our safeguards: at least three
reporters on two hosts, rendezvous and store connections left out, shares taken of the connections
that each end could have failed in, and a symmetric pair called a link.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diagnosis.core.target import normalise_host
from diagnosis.triage.addresses import is_loopback
from diagnosis.triage.clues import Clue
from diagnosis.triage.settings import TriageSettings

#: Codes whose `peer` is the other end of a data connection. Everyone has store connections.
CONNECTION_CODES = {
    "nccl-peer-closed",
    "nccl-conn-reset",
    "nccl-connect-failed",
    "nccl-connect-retries",
    "ib-retry-exceeded",
    "ib-rnr-retry-exceeded",
    "ib-remote-access",
    "ib-wc-other",
    "gloo-peer-closed",
}
#: Connections that were never made.
NEVER_CONNECTED = {"nccl-connect-failed", "nccl-connect-retries"}
#: The peer of these ended the connection; a time-out says nothing about which end is at fault.
ENDED_BY_PEER = {"nccl-peer-closed", "nccl-conn-reset", "gloo-peer-closed"}


@dataclass(frozen=True, slots=True)
class Edge:
    """One failed connection, from the host that reports it to its peer (normalised names)."""

    source: str
    peer: str
    reporter: str
    clue: Clue


@dataclass(frozen=True)
class Root:
    """What the failed connections point at.

    `node`: the one end that explains them, None where none does. `pair`: the two ends where all
    failures lie between two machines. `share`: of the first failures that touch `node`.
    """

    edges: tuple[Edge, ...]
    node: str | None = None
    pair: tuple[str, str] | None = None
    share: float = 0.0
    enough: bool = False


def edges_of(clues: Sequence[Clue], addresses: Mapping[str, str]) -> list[Edge]:
    """The failed connections that the clues name; addresses become hosts where that is known."""
    edges = []
    for clue in clues:
        peer, source = clue.place.peer, clue.place.machine
        if clue.code not in CONNECTION_CODES or not peer or source is None or is_loopback(peer):
            continue
        other = normalise_host(addresses.get(peer, peer))
        reporter = f"rank {clue.place.rank}" if clue.place.rank is not None else source
        if other != source:
            edges.append(Edge(source, other, f"{source} {reporter}", clue))
    return edges


def root_of(edges: Sequence[Edge], settings: TriageSettings) -> Root:
    """The root among the first failures."""
    first = _first_failures(edges, settings.first_failures)
    if not first:
        return Root(())
    machines = {edge.source for edge in first}
    reporters = {edge.reporter for edge in first}
    enough = len(reporters) >= settings.reporters and len(machines) >= settings.reporter_hosts
    pairs = {frozenset((edge.source, edge.peer)) for edge in first}
    if len(pairs) == 1:
        one, other = sorted(next(iter(pairs)))
        return Root(tuple(first), pair=(one, other), share=1.0, enough=enough)
    node, share = _most_touched(first)
    if share < settings.root_share:
        return Root(tuple(first), share=share, enough=enough)
    return Root(tuple(first), node=node, share=share, enough=enough)


def _first_failures(edges: Sequence[Edge], within: float) -> list[Edge]:
    timed = [edge for edge in edges if edge.clue.moment is not None]
    scales = {edge.clue.moment.scale for edge in timed if edge.clue.moment}
    if len(timed) < len(edges) or len(scales) != 1:
        return list(edges)
    start = min(edge.clue.moment.time for edge in timed if edge.clue.moment)
    return [e for e in timed if e.clue.moment and e.clue.moment.time <= start + within]


def _most_touched(edges: Sequence[Edge]) -> tuple[str | None, float]:
    """The end in the largest share of failures, None when two ends share the first place.

    Each pair of machines counts once, however many connections it had.
    """
    touching: dict[str, set[frozenset[str]]] = defaultdict(set)
    pairs = {frozenset((edge.source, edge.peer)) for edge in edges}
    for pair in pairs:
        for end in pair:
            touching[end].add(pair)
    ranked = sorted(touching, key=lambda end: (-len(touching[end]), end))
    best = ranked[0]
    if len(ranked) > 1 and len(touching[ranked[1]]) == len(touching[best]):
        return None, 0.0
    return best, len(touching[best]) / len(pairs)
