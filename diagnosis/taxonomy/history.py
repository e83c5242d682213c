"""What is known of the parts at hand from earlier incidents, as plain data for the engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnosis.core.devices import Seats
from diagnosis.core.target import normalise_host
from diagnosis.taxonomy.escalation import PastFinding


@dataclass(frozen=True, slots=True)
class Offences:
    """A host's faults before this incident: its repeat-offender score (0..1) and why, in words."""

    score: float
    words: str


@dataclass(frozen=True)
class History:
    """Earlier findings, and who asks: the job and owner of this incident, and when it began.

    `past` holds no finding of this incident. `seats` tells which device sits where. `offences` by
    normalised host name. `at` is in seconds since the epoch.
    """

    past: tuple[PastFinding, ...] = ()
    seats: Seats = field(default_factory=Seats)
    offences: Mapping[str, Offences] = field(default_factory=dict)
    job: str | None = None
    owner: str | None = None
    at: float | None = None

    def offences_of(self, host: str | None) -> Offences | None:
        return self.offences.get(normalise_host(host)) if host else None
