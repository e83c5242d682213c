"""Configuration snapshots: what is set and installed on one host at one time."""

from collections.abc import Mapping
from dataclasses import dataclass

from diagnosis.core.devices import DeviceSeat


@dataclass(frozen=True)
class Snapshot:
    """`values`: name → value as text (docs/contract.md). `time`: epoch seconds where known.

    `lines`: the line of the file that a value stands in, from 1, where that can be told. `devices`:
    the parts of the host by serial number or UUID, which differ by nature and are no values.
    """

    host: str
    values: Mapping[str, str]
    file: str
    time: float | None = None
    lines: Mapping[str, int] | None = None
    devices: tuple[DeviceSeat, ...] = ()
