"""Topology: which host hangs on which switches (docs/contract.md, `topology.json`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from diagnosis.core.target import normalise_host


@dataclass(frozen=True)
class HostWiring:
    """One host's place in the network: pod, ToR switches, and the ToR of each NIC where known."""

    name: str
    pod: str | None = None
    tors: tuple[str, ...] = ()
    rails: Mapping[str, str] = field(default_factory=dict)

    def tors_of(self, nic: str | None) -> tuple[str, ...]:
        """The ToR of a NIC; all of the host's where the NIC is not known."""
        tor = self.rails.get(nic) if nic else None
        return (tor,) if tor else self.tors

    def with_more(self, other: "HostWiring | None") -> "HostWiring":
        """What another source knows beyond this; its rails come with the switches they name."""
        if other is None:
            return self
        finer = other if other.rails and not self.rails else self
        return HostWiring(self.name, self.pod or other.pod, finer.tors or other.tors, finer.rails)


@dataclass(frozen=True, slots=True)
class Cable:
    """Two ends, each `host/nic` or `switch/port`."""

    a: str
    b: str


@dataclass(frozen=True)
class Topology:
    """Hosts and cables. Empty when nothing is known."""

    hosts: tuple[HostWiring, ...] = ()
    cables: tuple[Cable, ...] = ()

    def __len__(self) -> int:
        return len(self.hosts)

    @cached_property
    def by_host(self) -> Mapping[str, HostWiring]:
        """Normalised host name → its wiring."""
        return {normalise_host(host.name): host for host in self.hosts}

    @cached_property
    def far_ends(self) -> Mapping[str, str]:
        """Either end of a cable → the other one."""
        both = [(cable.a, cable.b) for cable in self.cables]
        return {one: other for a, b in both for one, other in ((a, b), (b, a))}

    def with_more(self, other: "Topology") -> "Topology":
        """This topology, and what another one knows beyond it: rails, cables, further hosts."""
        hosts = {
            name: host.with_more(other.by_host.get(name)) for name, host in self.by_host.items()
        }
        further = {name: host for name, host in other.by_host.items() if name not in hosts}
        cables = dict.fromkeys((*self.cables, *other.cables))
        return Topology((*hosts.values(), *further.values()), tuple(cables))

    def wiring_of(self, host: str) -> HostWiring | None:
        return self.by_host.get(normalise_host(host))
