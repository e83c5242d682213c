"""Clusters with one planted fault that answer the offline planner's test groups.

Seeded (topology, fault) pairs of 16 to 4,096 hosts: pods of uneven size, ToRs of 1 to 64 hosts,
hosts under one ToR, under two, or under one for each of eight rails.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diagnosis.core.topology import HostWiring, Topology

#: Hosts under a ToR → share of the clusters.
TOR_SIZES = {1: 0.03, 2: 0.07, 4: 0.1, 8: 0.25, 16: 0.3, 32: 0.2, 64: 0.05}

FAULTS = ("host", "two-hosts", "pair", "tor", "aggregation")


@dataclass(frozen=True)
class PlantedFault:
    """What is wrong. `scope` for a ToR: all its traffic or what leaves it; for the aggregation:
    what crosses ToRs or what crosses pods.
    """

    kind: str
    hosts: tuple[str, ...] = ()
    tors: tuple[str, ...] = ()
    scope: str = ""


@dataclass
class SimulatedCluster:
    """Answers groups of hosts; a test passes each fault in it with probability `miss`."""

    topology: Topology
    fault: PlantedFault
    miss: float
    rng: np.random.Generator

    def answers(self, groups: Sequence[Sequence[str]]) -> list[bool]:
        return [self._passes(group) for group in groups]

    def _passes(self, group: Sequence[str]) -> bool:
        return all(self.rng.random() < self.miss for _ in range(self._touched(group)))

    def _touched(self, group: Sequence[str]) -> int:
        """How many faults the group's test meets."""
        fault = self.fault
        bad = len(set(group) & set(fault.hosts))
        if fault.kind in {"host", "two-hosts"}:
            return bad
        if fault.kind == "pair":
            return int(bad == 2)
        wiring = [self.topology.by_host[name] for name in group]
        tors = {host.tors for host in wiring}
        if fault.kind == "tor":
            needed = 2 if fault.scope == "leaving" else 1
            return int(len(group) > 1 and fault.tors in tors and len(tors) >= needed)
        crossed = tors if fault.scope == "tors" else {host.pod for host in wiring}
        return int(len(crossed) > 1)


def simulated_cluster(
    kind: str, rng: np.random.Generator, *, miss: float = 0.0, largest: int = 4096
) -> SimulatedCluster:
    """A cluster of 16 hosts to `largest`, with one fault of a kind of `FAULTS`."""
    topology = _topology(rng, largest, tors_at_least=3 if kind == "tor" else 2)
    names = [host.name for host in topology.hosts]
    tors = sorted({host.tors for host in topology.hosts})
    pods = {host.pod for host in topology.hosts}
    number = {"host": 1, "two-hosts": 2, "pair": 2}.get(kind, 0)
    hosts = tuple(rng.choice(names, number, replace=False).tolist())
    scopes = {"tor": ["any", "leaving"], "aggregation": ["tors", "pods"][: 1 + (len(pods) > 1)]}
    scope = str(rng.choice(scopes[kind])) if kind in scopes else ""
    bad = tors[int(rng.integers(len(tors)))] if kind == "tor" else ()
    return SimulatedCluster(topology, PlantedFault(kind, hosts, bad, scope), miss, rng)


def _topology(rng: np.random.Generator, largest: int, *, tors_at_least: int) -> Topology:
    while True:
        hosts = int(2 ** rng.uniform(4, np.log2(largest)))
        under_tor = int(rng.choice(list(TOR_SIZES), p=list(TOR_SIZES.values())))
        tors = -(-hosts // under_tor)
        pods = int(rng.integers(1, max(1, min(16, tors // 2)) + 1))
        if tors >= max(tors_at_least, 2 * pods):
            return _wired(rng, hosts, tors, pods)


def _wired(rng: np.random.Generator, hosts: int, tors: int, pods: int) -> Topology:
    """Hosts spread over ToRs almost evenly, ToRs over pods unevenly."""
    cuts = np.sort(rng.choice(np.arange(1, tors // 2), pods - 1, replace=False)) * 2
    pod_of_tor = np.searchsorted(cuts, np.arange(tors), side="right")
    rails = int(rng.choice([1, 2, 8], p=[0.7, 0.2, 0.1]))
    order = np.sort(np.concatenate([np.arange(tors), rng.integers(tors, size=hosts - tors)]))
    wiring = []
    for number, tor in enumerate(order.tolist()):
        names = [f"tor-{tor:03d}" + (f"-{rail}" if rails > 1 else "") for rail in range(rails)]
        pod = f"pod-{pod_of_tor[tor]:02d}"
        wiring.append(HostWiring(f"node-{number:04d}", pod, tuple(names)))
    return Topology(tuple(wiring))
