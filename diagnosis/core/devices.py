"""Devices: which part, by serial number or UUID, sits where in which host."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from diagnosis.core.target import normalise_host
from diagnosis.core.words import TargetKind

_LONG_DOMAIN = re.compile(r"[0-9a-f]{8}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?")
_SHORT = re.compile(r"[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?")
_PCI = re.compile(r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?")


def pci_address(text: str) -> str:
    """A PCI address in the kernel's spelling, `0000:9b:00.0`; empty where `text` is none.

    `nvidia-smi` writes the domain with eight digits, NVIDIA's kernel lines leave the function out.
    """
    plain = text.strip().lower().removeprefix("pci:").strip(".:")
    if not _PCI.fullmatch(plain):
        return ""
    if _LONG_DOMAIN.fullmatch(plain):
        plain = plain[4:]
    elif _SHORT.fullmatch(plain):
        plain = f"0000:{plain}"
    return plain if "." in plain else f"{plain}.0"


@dataclass(frozen=True, slots=True)
class DeviceSeat:
    """One GPU or NIC in its place, as one source tells it; empty where it does not.

    `name` is what the host calls it (`mlx5_0`), `index` the driver's number of a GPU.
    """

    kind: TargetKind
    host: str
    serial: str = ""
    uuid: str = ""
    pci: str = ""
    index: int | None = None
    name: str = ""
    model: str = ""

    @property
    def identity(self) -> str:
        """What stays with the part when it moves: UUID, else serial number; else empty."""
        return self.uuid or self.serial

    @property
    def addresses(self) -> tuple[str, ...]:
        """Everything that evidence may call it by on its host."""
        index = "" if self.index is None else str(self.index)
        names = (self.uuid, self.serial, self.pci, index, self.name)
        return tuple(name.lower() for name in names if name)


@dataclass(frozen=True)
class Seats:
    """Who sits where. Of two rows about one place the earlier one counts."""

    rows: tuple[DeviceSeat, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def with_more(self, rows: Iterable[DeviceSeat]) -> "Seats":
        """These seats, and those of other sources where these tell nothing."""
        return Seats((*self.rows, *rows))

    def at(self, host: str | None, part: str | None) -> DeviceSeat | None:
        """The device that a host calls `part`: a PCI address, index, UUID, serial or name."""
        if not host or not part:
            return None
        address = pci_address(part) or part.strip().lower()
        return self._by_address.get((normalise_host(host), address))

    @cached_property
    def _by_address(self) -> Mapping[tuple[str, str], DeviceSeat]:
        found: dict[tuple[str, str], DeviceSeat] = {}
        for row in self.rows:
            if row.identity:
                for address in row.addresses:
                    found.setdefault((normalise_host(row.host), address), row)
        return found
