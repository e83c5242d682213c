"""Targets: what a finding, suspect or recommendation is about."""

import re
from dataclasses import dataclass
from functools import lru_cache

from diagnosis.core.words import TargetKind

_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")


@lru_cache(maxsize=1 << 15)
def normalise_host(name: str) -> str:
    """The form in which two spellings of one host compare equal: lower case, no port, no domain.

    An IP address keeps its dots; `node-07.cluster.local:29500` becomes `node-07`.
    """
    host = name.strip().lower().rstrip(".")
    if host.count(":") == 1:
        host = host.split(":", 1)[0]
    if _IPV4.fullmatch(host) or ":" in host:
        return host
    return host.split(".", 1)[0]


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that can be at fault.

    `host` is set whenever it is known, whatever the kind; `gpu` is the index, UUID or PCI address
    that the evidence names; a link's `name` is `host/device` or `switch/port` and `peer` its other
    end. Hosts are kept as given and compared through `normalise_host`.
    """

    kind: TargetKind
    name: str | None = None
    host: str | None = None
    gpu: str | int | None = None
    nic: str | None = None
    rank: int | None = None
    peer: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Identity for grouping: equal for two spellings of one target."""
        host = normalise_host(self.host) if self.host else None
        named = self.kind not in {TargetKind.HOST, TargetKind.RANK, TargetKind.GPU, TargetKind.NIC}
        return (
            self.kind,
            host,
            self.gpu,
            self.nic,
            self.rank,
            self.peer,
            self.name if named else None,
        )

    def to_dict(self) -> dict[str, object]:
        """The contract's shape; `peer` only where there is one."""
        shape: dict[str, object] = {
            "kind": self.kind.value,
            "name": self.name,
            "host": self.host,
            "gpu": self.gpu,
            "nic": self.nic,
            "rank": self.rank,
        }
        if self.peer is not None:
            shape["peer"] = self.peer
        return shape
