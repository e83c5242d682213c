"""Reader of the identities of GPUs and NICs in what `nvidia-smi -q` and `ibstat` print."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from diagnosis.core.devices import DeviceSeat, pci_address
from diagnosis.core.words import TargetKind

_GPU = re.compile(r"^GPU (?P<pci>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f:.]+)\s*$")
_ADAPTER = re.compile(r"^CA '(?P<name>[\w.-]+)'")
_FIELD = re.compile(r"^\s+(?P<name>[^\s:][^:]*):\s+(?P<value>\S.*)$")
#: What the tools print where a part has no such number.
_NOTHING = {"n/a", "[n/a]", "none", "unknown", "unknown error", "0", "0x0000000000000000"}
_OF_A_GPU = {"Serial Number": "serial", "GPU UUID": "uuid", "Product Name": "model"}
_OF_AN_ADAPTER = {"Node GUID": "uuid", "CA type": "model"}


def devices_in(text: str, host: str) -> tuple[DeviceSeat, ...]:
    """The GPUs of `nvidia-smi -q` or the adapters of `ibstat`, in their order of printing.

    The index of a GPU is its place in that order: the driver numbers them by PCI address.
    """
    found = [*_gpus(text, host), *_adapters(text, host)]
    return tuple(seat for seat in found if seat.identity)


def _gpus(text: str, host: str) -> Iterator[DeviceSeat]:
    for index, (pci, fields) in enumerate(_blocks(text, _GPU, "pci", _OF_A_GPU)):
        seat = DeviceSeat(TargetKind.GPU, host, pci=pci_address(pci), index=index)
        yield replace(seat, **fields)


def _adapters(text: str, host: str) -> Iterator[DeviceSeat]:
    for name, fields in _blocks(text, _ADAPTER, "name", _OF_AN_ADAPTER):
        yield replace(DeviceSeat(TargetKind.NIC, host, name=name), **fields)


def _blocks(
    text: str, head: re.Pattern[str], named: str, wanted: Mapping[str, str]
) -> list[tuple[str, dict[str, Any]]]:
    """Each block's head and the fields that are wanted of it; the first of a name counts."""
    blocks: list[tuple[str, dict[str, Any]]] = []
    for line in text.splitlines():
        if found := head.match(line):
            blocks.append((found[named], {}))
        elif blocks and (found := _FIELD.match(line)):
            name, value = wanted.get(found["name"].rstrip()), found["value"].rstrip()
            if name is not None and value.lower() not in _NOTHING:
                blocks[-1][1].setdefault(name, value)
    return blocks
