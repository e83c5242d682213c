"""What a detector answers: faulty, healthy or cannot tell, with the hosts, metrics and times."""

from dataclasses import dataclass, field
from enum import StrEnum


class Answer(StrEnum):
    """The three answers; `CANNOT_TELL` means too few peers, no spread, or no data."""

    FAULTY = "faulty"
    HEALTHY = "healthy"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class MetricShift:
    """One metric of one host away from its peers.

    `value`, `usual` and `peers` are in the metric's own unit: the host's value when the alarm
    spoke, its own level before, and its peers' median now. `deviations` says how many of its usual
    deviations the shift spans; negative is below the peers.
    """

    metric: str
    deviations: float
    value: float
    usual: float
    peers: float
    device: str | None = None
    implicates: str | None = None


@dataclass(frozen=True, slots=True)
class HostSuspect:
    """A host that left its peers: since when, when that was certain, and in which metrics.

    `onset`, `alarm_time` and `recovered` are in the window's seconds; `alarm_time` is None for a
    host that came near the bar without crossing it.
    """

    host: str
    score: float
    onset: float
    alarm_time: float | None
    metrics: tuple[MetricShift, ...]
    recovered: float | None = None


@dataclass(frozen=True, slots=True)
class FleetShift:
    """A shift that most hosts, or a group of them, share: one finding and nobody's fault.

    `change` is relative to the level before; `hosts` names the group, empty for the whole fleet.
    """

    metric: str
    start: float
    end: float | None
    change: float
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a judgement rests on: hosts and metrics that answered, and the share of samples."""

    hosts: int
    hosts_judged: int
    metrics: int
    metrics_judged: int
    samples_present: float
    silent_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """A detector's answer about one window. `reason` says why where it cannot tell."""

    answer: Answer
    reason: str
    coverage: Coverage
    suspects: tuple[HostSuspect, ...] = ()
    fleet_wide: tuple[FleetShift, ...] = ()
    detector: str = ""
    trace: tuple[str, ...] = field(default=())
