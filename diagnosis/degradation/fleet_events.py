"""Shifts that hosts share, told as events: one finding each, and never a list of culprits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from diagnosis.core.diagnosis import Finding
from diagnosis.core.target import Target
from diagnosis.core.words import TargetKind
from diagnosis.degradation.answers import FleetShift
from diagnosis.degradation.catalogue import Catalogue

#: Metrics that shift within so many seconds of each other, in the same hosts, are one event.
SAME_EVENT_S = 180.0
#: Faults whose counters rise on all hosts together when the fabric is congested.
CONGESTED = frozenset({"nic-packet-loss", "pfc-storm", "switch-congestion"})


@dataclass(frozen=True)
class FleetEvent:
    """Several metrics that shifted together: of the whole fleet, or of a group of hosts."""

    shifts: tuple[FleetShift, ...]

    @property
    def start(self) -> float:
        return min(shift.start for shift in self.shifts)

    @property
    def end(self) -> float | None:
        """When the last metric came back; None while one of them is away."""
        ends = [shift.end for shift in self.shifts]
        known = [end for end in ends if end is not None]
        return max(known) if len(known) == len(ends) else None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The group, empty for the fleet as a whole."""
        return tuple(dict.fromkeys(host for shift in self.shifts for host in shift.hosts))

    @property
    def text(self) -> str:
        who = f"{len(self.hosts)} hosts together" if self.hosts else "the fleet as a whole"
        largest = sorted(self.shifts, key=lambda shift: -abs(shift.change))
        moved = ", ".join(f"{shift.metric} {shift.change:+.0%}" for shift in largest)
        until = f" until {clock(self.end)}" if self.end is not None else ""
        return f"{who} from {clock(self.start)}{until}: {moved}"

    def to_dict(self, file: str) -> dict[str, object]:
        """A finding about the job in the contract's shape, with the change of each metric."""
        finding = Finding(
            detector="fleet-wide",
            target=Target(TargetKind.JOB, name="job"),
            text=self.text,
            time=self.start,
            evidence=file,
            locator={"from": self.start, "to": self.end, "hosts": list(self.hosts)},
        )
        changes = {shift.metric: round(shift.change, 4) for shift in self.shifts}
        return {**finding.to_dict(), "metrics": changes}


def fleet_events(shifts: Sequence[FleetShift]) -> tuple[FleetEvent, ...]:
    """The shifts as events, by time: the whole fleet's and each group's apart."""
    events: list[list[FleetShift]] = []
    for shift in sorted(shifts, key=lambda item: (bool(item.hosts), item.start)):
        last = events[-1] if events else []
        alike = last and bool(last[0].hosts) == bool(shift.hosts)
        if alike and shift.start - last[-1].start <= SAME_EVENT_S:
            last.append(shift)
        else:
            events.append([shift])
    return tuple(FleetEvent(tuple(event)) for event in events)


def congestion(
    shifts: Sequence[FleetShift], catalogue: Catalogue, *, onset: float, now: float
) -> tuple[str, ...]:
    """The metrics by which the whole fabric is congested now and was at the onset (seconds)."""
    return tuple(
        shift.metric
        for shift in shifts
        if not shift.hosts
        and shift.start <= onset + SAME_EVENT_S
        and (shift.end is None or now - shift.end < SAME_EVENT_S)
        and catalogue.definition(shift.metric).implicates in CONGESTED
    )


def clock(seconds: float) -> str:
    """A time as people read it: UTC, or plain seconds where the input counts from zero."""
    if seconds < 1e8:
        return f"{seconds:.0f} s"
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
