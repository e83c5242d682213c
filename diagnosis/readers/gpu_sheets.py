"""Where in `nvidia-smi -q` a line stands: of which GPU, and below which headings."""

import re
from dataclasses import dataclass

from diagnosis.readers.logs_blocks import Block

#: Lines of one GPU; its processes come last.
_REACH = 600
_GPU = re.compile(rb"^GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*$")
_FIELD = re.compile(rb"^\s+(GPU UUID|Serial Number)\s+:\s+(\S+)\s*$")
_NOTHING = {"N/A", "0"}


@dataclass(frozen=True, slots=True)
class SheetPlace:
    """The GPU of a line by its PCI address, and by serial number and UUID where they are told.

    `headings`: those that the line stands below, the nearest first.
    """

    pci: str
    serial: str
    uuid: str
    headings: tuple[str, ...]

    @property
    def device(self) -> str:
        """The GPU in words."""
        serial = f"serial {self.serial}" if self.serial else ""
        return ", ".join(part for part in (f"GPU {self.pci}", serial, self.uuid) if part)


def place_in_sheet(block: Block, start: int) -> SheetPlace | None:
    """The place of the line that begins at byte `start`; None where it is in no such sheet."""
    indent = _indent(block.bytes_at(start))
    headings: list[str] = []
    told: dict[bytes, str] = {}
    for earlier in block.starts_before(start, _REACH):
        raw = block.bytes_at(earlier)
        if found := _GPU.match(raw):
            uuid, serial = told.get(b"GPU UUID", ""), told.get(b"Serial Number", "")
            return SheetPlace(found[1].decode(), serial, uuid, tuple(headings))
        if raw.strip() and not _indent(raw):
            return None
        if (field := _FIELD.match(raw)) and (value := field[2].decode()) not in _NOTHING:
            told[field[1]] = value
        elif raw.strip() and _indent(raw) < indent:
            indent = _indent(raw)
            headings.append(raw.strip().decode("utf-8", "replace"))
    return None


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())
