"""Configuration snapshots: what is set and installed on one host at one time."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Snapshot:
    """`values`: name → value as text (docs/contract.md). `time`: epoch seconds where known.

    `lines`: the line of the file that a value stands in, from 1, where that can be told.
    """

    host: str
    values: Mapping[str, str]
    file: str
    time: float | None = None
    lines: Mapping[str, int] | None = None
