"""What an answer leaves behind for the history of hosts and devices, as the records store it."""

from collections.abc import Mapping
from dataclasses import replace

from diagnosis.core.devices import pci_address
from diagnosis.core.diagnosis import Diagnosis, Suspect
from diagnosis.core.sightings import Sighting
from diagnosis.core.target import Target, normalise_host
from diagnosis.core.words import Role, TargetKind
from incidents.services.results import FaultData, SeatData

#: From this score on the first suspect counts as accused, though it is no culprit.
_LIKELIER_THAN_NOT = 0.5
_PARTS = {TargetKind.HOST, TargetKind.GPU, TargetKind.NIC, TargetKind.LINK, TargetKind.RANK}


def faults_in(answer: Diagnosis, fault_codes: Mapping[str, str]) -> list[FaultData]:
    """Every sighting, the accused ones with their suspect's role and score; then accusations that
    rest on something else than a log's line.
    """
    accused = [one for at, one in enumerate(answer.suspects) if _is_accused(one, at)]
    found = [_of_sighting(one, fault_codes) for one in answer.sightings]
    for suspect in accused:
        fault = fault_codes.get(suspect.fault or "", suspect.fault or "")
        mine = _sighting_behind(suspect, found)
        if mine is None:
            found.append(_of_suspect(suspect, fault))
        else:
            found[mine] = replace(found[mine], role=suspect.role, score=suspect.score)
    return found


def seats_in(answer: Diagnosis) -> list[SeatData]:
    """The devices that the evidence names: those with an address, and all of accused hosts.

    A placement names every GPU of a job by UUID; only those that matter are worth a row.
    """
    hosts = {normalise_host(one.host) for one in answer.sightings}
    hosts |= {normalise_host(s.target.host) for s in answer.suspects if s.target.host}
    return [
        SeatData(
            kind=seat.kind, host=seat.host, serial=seat.serial, uuid=seat.uuid, pci=seat.pci,
            index=seat.index, name=seat.name, model=seat.model,
        )
        for seat in answer.seats
        if seat.identity and (seat.pci or seat.name or normalise_host(seat.host) in hosts)
    ]  # fmt: skip


def _is_accused(suspect: Suspect, at: int) -> bool:
    if not suspect.target.host or suspect.target.kind not in _PARTS:
        return False
    if suspect.role is Role.CULPRIT:
        return True
    return suspect.role is Role.POSSIBLE and at == 0 and suspect.score >= _LIKELIER_THAN_NOT


def _of_sighting(one: Sighting, fault_codes: Mapping[str, str]) -> FaultData:
    return FaultData(
        kind=one.kind,
        host=one.host,
        part=one.part,
        code=one.code,
        fault=fault_codes.get(one.code, one.code),
        count=one.count,
        first=one.first,
        last=one.last,
    )


def _sighting_behind(suspect: Suspect, faults: list[FaultData]) -> int | None:
    """Position of the fault that the suspect was accused for; None where no log told it."""
    part = _part(suspect.target)
    for at, one in enumerate(faults):
        same_host = normalise_host(one.host) == normalise_host(suspect.target.host or "")
        if same_host and one.code == suspect.fault and one.part in {part, ""} | _names(suspect):
            return at
    return None


def _names(suspect: Suspect) -> set[str]:
    """What else the part may be called: a host accused for one of its parts, a link by its end."""
    target = suspect.target
    device = (target.name or "").partition("/")[2].lower()
    return {name for name in (device, str(target.nic or "").lower()) if name}


def _of_suspect(suspect: Suspect, fault: str) -> FaultData:
    target = suspect.target
    told = [f.time for f in suspect.findings if isinstance(f.time, int | float) and f.weight > 0]
    gpu = target.gpu is not None and target.kind is not TargetKind.NIC
    return FaultData(
        kind=TargetKind.NIC if target.nic else TargetKind.GPU if gpu else TargetKind.HOST,
        host=target.host or "",
        part=_part(target),
        fault=fault,
        first=min(told, default=None),
        last=max(told, default=None),
        role=suspect.role,
        score=suspect.score,
    )


def _part(target: Target) -> str:
    """The address that the records know the part by on its host; "" for the host as a whole."""
    if target.nic:
        return target.nic.lower()
    if target.gpu is None or target.kind is TargetKind.NIC:
        return ""
    return pci_address(str(target.gpu)) or str(target.gpu).lower()
