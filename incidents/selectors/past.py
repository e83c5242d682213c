"""The past of hosts and devices: faults, seats, and the times when hosts were out of service."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, F, Max, QuerySet

from incidents.choices import HostState
from incidents.models import Device, DeviceSeat, Event, FaultRecord, Host, Incident

#: Incidents that one row of a summary links to.
_LINKS = 6


@dataclass(slots=True)
class FaultSummary:
    """One fault of one part: in which incidents, how many lines, from when to when.

    `accused`: in how many of them an answer named the part as the cause.
    """

    fault: str
    part: str
    host: Host
    device: Device | None
    first_at: datetime
    last_at: datetime
    lines: int = 0
    accused: int = 0
    incidents: list[Incident] = field(default_factory=list)

    @property
    def place(self) -> str:
        """The part as people call it: what is only a number gets its kind before it."""
        if self.device is not None and self.part.isdecimal():
            return f"{self.device.get_kind_display()} {self.part}"
        return self.part

    @property
    def linked(self) -> Sequence[Incident]:
        return self.incidents[:_LINKS]

    @property
    def more(self) -> int:
        return max(len(self.incidents) - _LINKS, 0)


@dataclass(frozen=True, slots=True)
class OutOfService:
    """A time in which a host was not in service, by one state; open without `until`."""

    state: HostState
    since: datetime
    until: datetime | None
    who: str
    text: str


def faults_of_host(host: Host) -> QuerySet[FaultRecord]:
    """What befell a host and the parts in it, newest first."""
    return _records().filter(host=host)


def faults_of_device(device: Device) -> QuerySet[FaultRecord]:
    """What befell a device in whichever host it sat, newest first."""
    return _records().filter(device=device)


def _records() -> QuerySet[FaultRecord]:
    shown = FaultRecord.objects.filter(incident__merged_into__isnull=True)
    return shown.select_related("incident", "host", "device").order_by("-first_at", "-id")


def by_fault(records: Iterable[FaultRecord]) -> Sequence[FaultSummary]:
    """One summary for each fault of each part, the newest first."""
    found: dict[tuple[object, ...], FaultSummary] = {}
    for one in records:
        key = (one.fault or one.code, one.device_id or one.part, one.host_id)
        summary = found.setdefault(
            key,
            FaultSummary(
                one.fault or one.code, one.part, one.host, one.device, one.first_at, one.last_at
            ),
        )
        summary.lines += one.count
        summary.accused += one.is_accusation
        summary.first_at = min(summary.first_at, one.first_at)
        summary.last_at = max(summary.last_at, one.last_at)
        if one.incident not in summary.incidents:
            summary.incidents.append(one.incident)
    return sorted(found.values(), key=lambda one: one.last_at, reverse=True)


def devices_in(host: Host) -> QuerySet[DeviceSeat]:
    """Every device that sits or sat in a host, those that sit there first, with their faults."""
    return (
        DeviceSeat.objects.filter(host=host)
        .select_related("device", "host")
        .annotate(
            fault_count=Count("device__fault_records__incident", distinct=True),
            last_fault_at=Max("device__fault_records__last_at"),
        )
        .order_by(F("until").asc(nulls_first=True), "device__kind", "index", "pci", "name", "id")
    )


def seats_of(device: Device) -> QuerySet[DeviceSeat]:
    """Where a device sat, the newest seat first."""
    return device.seats.select_related("host", "device").order_by("-since", "-id")


def out_of_service(host: Host) -> Sequence[OutOfService]:
    """The times in which a host was suspect, isolated, in repair or checked, newest first."""
    events = Event.objects.filter(host=host, verb="host.state").order_by("id")
    found: list[OutOfService] = []
    ended: datetime | None = None
    for event in reversed(events):
        state = event.data.get("state")
        if state in HostState.values and state != HostState.IN_SERVICE:
            found.append(OutOfService(HostState(state), event.time, ended, event.actor, event.text))
        ended = event.time
    return found
