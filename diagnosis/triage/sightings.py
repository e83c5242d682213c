"""Sightings: what this incident's logs tell of each part, kept for the parts' history."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from diagnosis.core.devices import DeviceSeat, pci_address
from diagnosis.core.sightings import Sighting
from diagnosis.core.target import normalise_host
from diagnosis.core.words import SignatureClass, TargetKind
from diagnosis.taxonomy.signature import Implicates, Stream
from diagnosis.triage.clues import Clue, Moment
from diagnosis.triage.scan import Scan

#: Sightings that one incident leaves behind; a flood that names more parts is one event.
MAX_SIGHTINGS = 2000

#: What is the host's own where no part of it is named.
_OF_THE_HOST = {SignatureClass.CRITICAL, SignatureClass.DEGRADATION}
_KINDS: Mapping[Implicates, TargetKind] = {
    Implicates.GPU: TargetKind.GPU,
    Implicates.NIC: TargetKind.NIC,
    Implicates.LINK: TargetKind.LINK,
    Implicates.SWITCH: TargetKind.SWITCH,
}


def part_of(clue: Clue) -> tuple[TargetKind, str]:
    """The part that a clue is about, and its address on its host; "" for the host as a whole."""
    place = clue.place
    kind = _KINDS.get(clue.signature.implicates)
    if kind in {TargetKind.NIC, TargetKind.LINK, TargetKind.SWITCH} and (place.nic or place.link):
        address = place.nic or place.link or ""
        named = TargetKind.NIC if place.nic else kind
        return named, pci_address(address) or address.lower()
    if place.gpu and (kind is not None or clue.signature.stream is Stream.KERNEL):
        return TargetKind.GPU, pci_address(place.gpu) or place.gpu.lower()
    return TargetKind.HOST, ""


def _is_of_a_part(clue: Clue, part: str) -> bool:
    """Whether a clue tells something of the part itself, and not of the job that ran on it."""
    signature = clue.signature
    if signature.cls is SignatureClass.INFO:
        return False
    counted = signature.escalates is not None or signature.escalation_idea is not None
    return bool(part) or counted or signature.cls in _OF_THE_HOST


def sightings_of(clues: Iterable[Clue]) -> tuple[Sighting, ...]:
    """One sighting for each signature and part on a known host, in order of host, part and code.

    What informs only tells nothing of a part, nor does what the job says of itself.
    """
    found: dict[tuple[str, str, str], Sighting] = {}
    for clue in clues:
        kind, part = part_of(clue)
        host = clue.place.host
        if not host or not _is_of_a_part(clue, part):
            continue
        seen = Sighting(
            clue.code, clue.signature.cls, kind, host, part, clue.count,
            epoch(clue.moment), epoch(clue.last or clue.moment),
        )  # fmt: skip
        key = (normalise_host(host), part, clue.code)
        known = found.get(key)
        if known is not None:
            found[key] = _joined(known, seen)
        elif len(found) < MAX_SIGHTINGS:
            found[key] = seen
    return tuple(found[key] for key in sorted(found))


def _joined(one: Sighting, other: Sighting) -> Sighting:
    firsts = [time for time in (one.first, other.first) if time is not None]
    lasts = [time for time in (one.last, other.last) if time is not None]
    return replace(
        one,
        count=one.count + other.count,
        first=min(firsts, default=None),
        last=max(lasts, default=None),
    )


def epoch(moment: Moment | None) -> float | None:
    """Seconds since the epoch, where the clock tells them."""
    return moment.time if moment is not None and moment.scale == "utc" else None


def seats_told(scans: Iterable[Scan]) -> tuple[DeviceSeat, ...]:
    """The GPUs whose UUID or serial number a kernel told with their address."""
    found = []
    for scan in scans:
        uuids, serials = scan.facts.gpus, scan.facts.serials
        for host, pci in {**uuids, **serials}:
            on, uuid = host or scan.origin.host, uuids.get((host, pci), "")
            serial = serials.get((host, pci), "")
            if on and pci:
                found.append(DeviceSeat(TargetKind.GPU, on, serial=serial, uuid=uuid, pci=pci))
    return tuple(found)
