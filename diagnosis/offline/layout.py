"""The hosts in question and where they hang, as index arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from diagnosis.core.target import normalise_host
from diagnosis.core.topology import HostWiring, Topology

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

K = TypeVar("K")

#: Fewer suspects than this cannot vouch for each other: other hosts of the topology help out.
FEW = 4


class UnknownHost(ValueError):  # noqa: N818 - it names what is wrong with the input
    """A suspect that the topology does not know."""


@dataclass(frozen=True)
class Block:
    """Hosts under the same ToR switches: a group test cannot tell those switches apart."""

    tors: tuple[str, ...]
    pod: int

    @property
    def name(self) -> str:
        return ", ".join(self.tors)


@dataclass(frozen=True, eq=False)
class Layout:
    """n hosts: `block` and `pod` (n,) index `blocks` and `pods`; `suspect` (n,) are in question.

    The other hosts may only help as partners.
    """

    names: tuple[str, ...]
    block: Ints
    pod: Ints
    suspect: Bools
    blocks: tuple[Block, ...]
    pods: tuple[str, ...]

    @classmethod
    def of(cls, topology: Topology, suspects: Sequence[str] = ()) -> "Layout":
        """All hosts are suspects where none are named. Raises `UnknownHost`."""
        wanted = {normalise_host(name) for name in suspects}
        unknown = sorted(wanted - topology.by_host.keys())
        if unknown:
            raise UnknownHost(f"the topology has no host {', '.join(unknown[:5])}")
        everyone = not wanted or len(wanted) < FEW
        chosen = [one for one in topology.hosts if everyone or normalise_host(one.name) in wanted]
        pods = _numbered(_pod(one) for one in chosen)
        blocks = _numbered((_tors(one), pods[_pod(one)]) for one in chosen)
        return cls(
            tuple(one.name for one in chosen),
            np.array([blocks[_tors(one), pods[_pod(one)]] for one in chosen], dtype=np.int64),
            np.array([pods[_pod(one)] for one in chosen], dtype=np.int64),
            np.array([not wanted or normalise_host(one.name) in wanted for one in chosen], bool),
            tuple(Block(tors, pod) for tors, pod in blocks),
            tuple(pods),
        )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def index(self) -> dict[str, int]:
        return {normalise_host(name): number for number, name in enumerate(self.names)}

    def index_of(self, name: str) -> int:
        return self.index[normalise_host(name)]

    @cached_property
    def blocks_of_pod(self) -> tuple[Ints, ...]:
        pods = np.array([block.pod for block in self.blocks])
        return tuple(np.flatnonzero(pods == pod) for pod in range(len(self.pods)))

    def uplinks_of(self, members: Sequence[int] | Ints) -> set[tuple[str, str]]:
        """The uplinks that a group's traffic takes: none inside one ToR, those of its ToRs when it
        crosses them, and those of its pods when it crosses pods.
        """
        blocks = set(self.block[np.asarray(members)].tolist())
        if len(blocks) < 2:
            return set()
        used = {("tor", tor) for block in blocks for tor in self.blocks[block].tors}
        pods = {self.blocks[block].pod for block in blocks}
        return used | {("pod", self.pods[pod]) for pod in pods if len(pods) > 1}

    def without_contention(self, groups: Iterable[Ints]) -> list[Ints]:
        """The groups in their order, less those that would share an uplink with an earlier one."""
        taken: set[tuple[str, str]] = set()
        kept = []
        for group in groups:
            used = self.uplinks_of(group)
            if taken.isdisjoint(used):
                taken |= used
                kept.append(group)
        return kept


def _pod(host: HostWiring) -> str:
    return host.pod or ""


def _tors(host: HostWiring) -> tuple[str, ...]:
    """A host without a named ToR counts as under one of its pod's that nobody named."""
    return tuple(sorted(host.tors)) or (f"unnamed ToR of {_pod(host) or 'the cluster'}",)


def _numbered(keys: Iterable[K]) -> dict[K, int]:
    return {key: number for number, key in enumerate(dict.fromkeys(keys))}
