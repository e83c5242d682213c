"""Where in `nvidia-smi -q` a line stands: of which GPU, and below which headings."""

import re
from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class _Above:
    """What stands above a line of a sheet: of which GPU, and the headings with their indents."""

    pci: str
    told: Mapping[bytes, str]
    headings: tuple[tuple[int, str], ...]


class Sheets:
    """The sheets of one log, asked for line by line: what was found above one line is kept."""

    def __init__(self) -> None:
        self._block: Block | None = None
        self._above: dict[int, _Above | None] = {}

    def place(self, block: Block, start: int) -> SheetPlace | None:
        """The place of the line that begins at byte `start`; None where it is in no such sheet."""
        if block is not self._block:
            self._block, self._above = block, {}
        if start not in self._above:
            self._above[start] = self._looked_up(block, start)
        above = self._above[start]
        if above is None:
            return None
        uuid, serial = (above.told.get(name, "") for name in (b"GPU UUID", b"Serial Number"))
        return SheetPlace(above.pci, serial, uuid, tuple(text for _, text in above.headings))

    def _looked_up(self, block: Block, start: int) -> _Above | None:
        indent = _indent(block.bytes_at(start))
        headings: list[tuple[int, str]] = []
        told: dict[bytes, str] = {}
        for earlier in block.starts_before(start, _REACH):
            raw = block.bytes_at(earlier)
            if found := _GPU.match(raw):
                return _Above(found[1].decode(), told, tuple(headings))
            if raw.strip() and not _indent(raw):
                return None
            if (field := _FIELD.match(raw)) and (value := field[2].decode()) not in _NOTHING:
                told[field[1]] = value
            elif raw.strip() and _indent(raw) < indent:
                indent = _indent(raw)
                headings.append((indent, raw.strip().decode("utf-8", "replace")))
            if earlier in self._above and _indent(raw) >= indent:
                known = self._above[earlier]
                return known and _joined(known, told, headings, indent)
        return None


def _joined(
    above: _Above, told: Mapping[bytes, str], headings: Sequence[tuple[int, str]], indent: int
) -> _Above:
    """What stands above a line further up, below which more was found up to this indent."""
    outer = [heading for heading in above.headings if heading[0] < indent]
    return _Above(above.pci, {**told, **above.told}, (*headings, *outer))


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())
