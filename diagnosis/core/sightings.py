"""Sightings: what one incident tells of one part by one signature, for the part's history."""

from dataclasses import dataclass

from diagnosis.core.words import SignatureClass, TargetKind


@dataclass(frozen=True, slots=True)
class Sighting:
    """One signature on one part: how often, and from when to when (epoch seconds, if known).

    `part` is the part's address on the host in one spelling; "" where it is the host itself.
    """

    code: str
    cls: SignatureClass
    kind: TargetKind
    host: str
    part: str = ""
    count: int = 1
    first: float | None = None
    last: float | None = None
