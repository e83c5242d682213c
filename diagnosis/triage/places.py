"""Where a log line happened: from the words of a line to a host, a part and a rank."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from diagnosis.core.placement import Placement
from diagnosis.core.target import normalise_host

_PORT = re.compile(r"<\d+>$|(?<=\d):\d+$")
_MAPPED = re.compile(r"^::ffff:", re.IGNORECASE)
#: With domain or function: two numbers alone are a time of day as well.
_PCI = re.compile(
    r"(?<![\w:.])(?:[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?"
    r"|[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])\b"
)
_PORT_NUMBER = re.compile(r"[:/]\d+$")


@dataclass(frozen=True, slots=True)
class Place:
    """As much of (host, GPU, NIC, link, rank) as is known; `peer` is the other end."""

    host: str | None = None
    rank: int | None = None
    gpu: str | None = None
    nic: str | None = None
    link: str | None = None
    peer: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        host = normalise_host(self.host) if self.host else None
        return (host, self.rank, pci_key(self.gpu), self.nic, self.link, self.peer)

    @property
    def is_known(self) -> bool:
        return self.host is not None or self.rank is not None

    @property
    def machine(self) -> str | None:
        """What groups places by machine: the host, or the rank where no host is known."""
        if self.host:
            return normalise_host(self.host)
        return f"rank {self.rank}" if self.rank is not None else None


def address_of(text: str) -> str:
    """A peer as NCCL and gloo print it, without its port: `10.0.3.5<53908>` → `10.0.3.5`."""
    plain = _PORT.sub("", text.strip().rstrip(",;"))
    return _MAPPED.sub("", plain.strip("[]()"))


def gpu_name(text: str | None) -> str | None:
    """A GPU as a line names it, without the punctuation that follows an address."""
    return text.rstrip(":.,;") or None if text else None


@lru_cache(maxsize=1 << 12)
def pci_key(gpu: str | None) -> str | None:
    """A form in which two spellings of one PCI address compare equal."""
    if gpu is None:
        return None
    plain = gpu.lower().strip(".:").removesuffix(".0")
    if re.fullmatch(r"[0-9a-f]{8}:[0-9a-f]{2}:[0-9a-f]{2}", plain):
        return plain[4:]
    return plain


def pci_in(text: str) -> str | None:
    """The first PCI address in `text`."""
    found = _PCI.search(text)
    return found[0] if found else None


def nic_of(device: str | None) -> str | None:
    """`mlx5_3:1` and `mlx5_3/1` are port 1 of `mlx5_3`."""
    return _PORT_NUMBER.sub("", device) if device else None


def completed(place: Place, placement: Placement, rank_hosts: Mapping[int, str]) -> Place:
    """The place with its host filled in from the placement, or from what the logs tell of it."""
    if place.rank is None:
        return place
    known = placement.by_rank.get(place.rank)
    if known is not None:
        gpu = place.gpu if place.gpu is not None or known.gpu is None else str(known.gpu)
        return replace(place, host=known.host, gpu=gpu)
    if place.host is None and place.rank in rank_hosts:
        return replace(place, host=rank_hosts[place.rank])
    return place
