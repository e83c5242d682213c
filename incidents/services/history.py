"""What stays of an incident on hosts and devices once it is diagnosed."""

from collections.abc import Mapping
from datetime import UTC, datetime

from django.db import transaction
from django.utils import timezone

from incidents.choices import DiagnosisState
from incidents.hostnames import normalise_host
from incidents.models import Diagnosis, FaultRecord, Host
from incidents.services import topology
from incidents.services.offenders import rescore
from incidents.services.results import DiagnosisResult, FaultData
from incidents.services.run_state import is_newest
from incidents.services.seats import device_at, seat


@transaction.atomic
def record_history(diagnosis: Diagnosis, result: DiagnosisResult) -> None:
    """Writes the newest answer's faults to the hosts and devices that they befell.

    What an older answer of the incident wrote is replaced. Part of storing a diagnosis, whose
    event tells of it.
    """
    if not is_newest(diagnosis, among=DiagnosisState.DONE):
        return
    incident = diagnosis.incident
    before = set(incident.fault_records.values_list("host", flat=True))
    incident.fault_records.all().delete()
    named = [*(one.host for one in result.faults), *(one.host for one in result.seats)]
    hosts = topology.hosts_named(incident.cluster, [name for name in named if name.strip()])
    at = min(incident.began_at, timezone.now())
    for name, host in hosts.items():
        seat(host, [one for one in result.seats if normalise_host(one.host) == name], at)
    told = [_record(diagnosis, one, hosts, at) for one in result.faults if one.host.strip()]
    FaultRecord.objects.bulk_create(told, batch_size=500)
    touched = {host.pk for host in hosts.values()} | before
    rescore(Host.objects.filter(pk__in=touched))


def _record(
    diagnosis: Diagnosis, fault: FaultData, hosts: Mapping[str, Host], at: datetime
) -> FaultRecord:
    host = hosts[normalise_host(fault.host)]
    first, last = _instant(fault.first, at), _instant(fault.last, at)
    return FaultRecord(
        incident_id=diagnosis.incident_id,
        diagnosis=diagnosis,
        host=host,
        device=device_at(host, fault.kind, fault.part[:100], first),
        part=fault.part[:100],
        code=fault.code[:100],
        fault=fault.fault[:100],
        count=fault.count,
        first_at=first,
        last_at=max(first, last),
        role=fault.role,
        score=fault.score,
    )


def _instant(seconds: float | None, otherwise: datetime) -> datetime:
    """The time that the evidence tells, unless a wrong clock puts it ahead of now."""
    try:
        told = datetime.fromtimestamp(seconds, UTC) if seconds is not None else otherwise
    except (ValueError, OverflowError, OSError):
        return otherwise
    return told if told <= timezone.now() else otherwise
