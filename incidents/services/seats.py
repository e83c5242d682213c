"""Which device sits where: learnt from evidence, and remembered when a part moves."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q

from incidents.choices import HostState, TargetKind
from incidents.models import Device, DeviceSeat, Event, FaultRecord, Host
from incidents.services.results import SeatData


def seat(host: Host, told: Sequence[SeatData], at: datetime) -> None:
    """Notes the devices that evidence of this time shows on a host.

    A device that sat elsewhere moves and keeps its past; whoever held the place before leaves it.
    Evidence that is older than what is known of a device moves nothing.
    """
    now = host.device_seats.filter(until=None).select_related("device")
    sitting = {(one.device.kind, one.device.identity.lower()): one for one in now}
    unmoved = []
    for one in told:
        known = sitting.get((one.kind, (one.uuid or one.serial).lower()))
        if known is not None and _tells_nothing_new(known, one):
            unmoved.append(known.pk)
        else:
            _seat(host, one, at)
    DeviceSeat.objects.filter(pk__in=unmoved, last_seen_at__lt=at).update(last_seen_at=at)


def _tells_nothing_new(known: DeviceSeat, told: SeatData) -> bool:
    device = known.device
    given = (told.pci, told.index, told.name, told.serial, told.model)
    had = (known.pci, known.index, known.name, device.serial, device.model)
    return all(new in (old, "", None) for new, old in zip(given, had, strict=True))


def _seat(host: Host, told: SeatData, at: datetime) -> None:
    device = _device_of(host, told, at)
    known = device.seats.filter(until=None).first()
    if known is not None and known.last_seen_at > at:
        return
    here = known if known is not None and _is_here(known, host, told) else None
    if here is None:
        device.seats.filter(until=None).update(until=at)
        here = DeviceSeat(device=device, host=host, since=at)
    _adopt(host, told, device, at)
    _vacate(host, told, device, at)
    here.pci = told.pci or here.pci
    here.index = here.index if told.index is None else told.index
    here.name = told.name or here.name
    here.last_seen_at = at
    here.save()


def _adopt(host: Host, told: SeatData, device: Device, at: datetime) -> None:
    """What befell the place while nobody knew whose it was befell the device that holds it."""
    nameless = _nameless(host, told, at)
    if nameless is not None and nameless.pk != device.pk:
        FaultRecord.objects.filter(device=nameless).update(device=device)
        nameless.delete()


def device_at(host: Host, kind: str, part: str, at: datetime) -> Device | None:
    """The device that a host called `part` at that time; one without identity where none is known.

    None where `part` is a mere number: the driver's numbers change with what is visible.
    """
    if not part:
        return None
    by_number = Q(device__kind=kind, index=int(part)) if part.isdecimal() else Q()
    called = (
        Q(pci__iexact=part) | Q(device__kind=kind, name__iexact=part)
        | Q(device__uuid__iexact=part) | Q(device__serial__iexact=part)
    )  # fmt: skip
    seats = DeviceSeat.objects.filter(called | by_number if by_number else called, host=host)
    then = seats.filter(Q(until=None) | Q(until__gt=at)).order_by("since")
    found = then.select_related("device").first()
    if found is not None:
        return found.device
    if part.isdecimal() or kind not in {TargetKind.GPU, TargetKind.NIC}:
        return None
    return _unidentified(host, kind, part, at)


def _unidentified(host: Host, kind: str, part: str, at: datetime) -> Device:
    device = Device.objects.create(kind=kind)
    pci = part if ":" in part else ""
    name = "" if pci else part
    DeviceSeat.objects.create(
        device=device, host=host, pci=pci[:20], name=name, since=at, last_seen_at=at
    )
    return device


def _device_of(host: Host, told: SeatData, at: datetime) -> Device:
    """The device by UUID, serial number, or as the one without a name that holds the place."""
    named = Q(uuid__iexact=told.uuid) if told.uuid else Q(serial__iexact=told.serial, uuid="")
    device = Device.objects.filter(named, kind=told.kind).first()
    if device is None and told.uuid and told.serial:
        device = Device.objects.filter(kind=told.kind, serial__iexact=told.serial, uuid="").first()
    device = device or _nameless(host, told, at) or Device(kind=told.kind)
    device.uuid = device.uuid or told.uuid
    device.serial = device.serial or told.serial
    device.model = told.model or device.model
    device.save()
    return device


def _nameless(host: Host, told: SeatData, at: datetime) -> Device | None:
    """The device without identity that holds this place, unless repair may have swapped it."""
    place = _place(told)
    if place is None:
        return None
    held = DeviceSeat.objects.filter(
        place, host=host, until=None, device__kind=told.kind, device__uuid="", device__serial=""
    )
    found = held.select_related("device").first()
    if found is None or _repaired_between(host, found.last_seen_at, at):
        return None
    return found.device


def _repaired_between(host: Host, start: datetime, end: datetime) -> bool:
    events = Event.objects.filter(host=host, verb="host.state", time__gt=start, time__lte=end)
    return events.filter(data__state=HostState.IN_REPAIR).exists()


def _vacate(host: Host, told: SeatData, device: Device, at: datetime) -> None:
    """Whoever else held the place has left it."""
    place = _place(told)
    if place is not None:
        held = DeviceSeat.objects.filter(place, host=host, until=None, device__kind=told.kind)
        held.exclude(device=device).filter(last_seen_at__lte=at).update(until=at)


def _place(told: SeatData) -> Q | None:
    places = Q()
    if told.pci:
        places |= Q(pci=told.pci)
    if told.name:
        places |= Q(name=told.name)
    return places or None


def _is_here(known: DeviceSeat, host: Host, told: SeatData) -> bool:
    if known.host_id != host.pk:
        return False
    return not (known.pci and told.pci and known.pci != told.pci)
