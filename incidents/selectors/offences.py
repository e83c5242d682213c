"""What hosts were accused of, and what became of it: the stuff of the repeat-offender score."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q

from incidents.choices import Action, DecisionKind, Outcome, Resolution
from incidents.figures.lemon import Accusation, Standing
from incidents.hostnames import normalise_host
from incidents.models import Decision, DeviceSeat, FaultRecord, Host

#: Resolutions by which a person says that no part was bad.
_CLEARING = {
    Resolution.FALSE_ALARM,
    Resolution.USER_CODE,
    Resolution.CONFIG_FIXED,
    Resolution.SHARED_CAUSE,
}
_BY_OUTCOME = {
    Outcome.PART_BAD: Standing.CONFIRMED,
    Outcome.PART_GOOD: Standing.CLEARED,
    Outcome.RECOVERED: Standing.RECOVERED,
    Outcome.NOT_RECOVERED: Standing.NOT_RECOVERED,
}
#: What is decided about a part, and not about the job or its code.
_ON_A_PART = (Action.ISOLATE_HOST, Action.RESET_GPU, Action.CHECK_LINK)


@dataclass(frozen=True, slots=True)
class Offence:
    """One incident that named a host, by its likeliest record, and how it counts."""

    record: FaultRecord
    accusation: Accusation


def offences_of(
    hosts: Collection[Host], *, before: datetime, without: int | None = None
) -> Mapping[int, Sequence[Offence]]:
    """Key of each host → its offences until then, newest first; `without` leaves an incident out.

    A device that has left the host took its faults along.
    """
    left = DeviceSeat.objects.filter(
        device=OuterRef("device"), host=OuterRef("host"), until__isnull=False, until__lte=before
    )
    stays = DeviceSeat.objects.filter(
        Q(until=None) | Q(until__gt=before), device=OuterRef("device"), host=OuterRef("host")
    )
    records = (
        FaultRecord.objects.filter(host__in=hosts, score__isnull=False, first_at__lt=before)
        .exclude(incident=without)
        .filter(incident__merged_into__isnull=True)
        .exclude(Q(Exists(left)) & ~Q(Exists(stays)))
        .select_related("incident", "device")
        .order_by("-first_at", "-id")
    )
    strongest: dict[tuple[int, int], FaultRecord] = {}
    for one in records:
        known = strongest.get((one.host_id, one.incident_id))
        if known is None or (one.score or 0) > (known.score or 0):
            strongest[one.host_id, one.incident_id] = one
    decided = _decisions({incident for _, incident in strongest}, before)
    names = {host.pk: host.normalised_name for host in hosts}
    found: dict[int, list[Offence]] = {host.pk: [] for host in hosts}
    for (host_id, incident), one in strongest.items():
        standing = _standing(one, decided.get((incident, names[host_id])))
        accusation = Accusation(one.first_at, one.score or 0.0, standing)
        found[host_id].append(Offence(one, accusation))
    return found


def _decisions(incidents: Collection[int], before: datetime) -> Mapping[tuple[int, str], Decision]:
    """(incident, host) → the newest decision about a part of it."""
    standing = Decision.objects.filter(
        recommendation__diagnosis__incident__in=incidents,
        recommendation__action__in=_ON_A_PART,
        standing=True,
        decided_at__lt=before,
    ).select_related("recommendation__diagnosis")
    found: dict[tuple[int, str], Decision] = {}
    for one in standing.order_by("recommendation__diagnosis__number", "id"):
        about = one.recommendation
        if about.target_host:
            found[about.diagnosis.incident_id, normalise_host(about.target_host)] = one
    return found


def _standing(record: FaultRecord, decision: Decision | None) -> Standing:
    """The outcome says most, then how the incident ended, then what was decided."""
    if decision is not None and decision.outcome in _BY_OUTCOME:
        return _BY_OUTCOME[Outcome(decision.outcome)]
    if record.incident.resolution in _CLEARING:
        return Standing.CLEARED
    if decision is None:
        return Standing.OPEN
    if decision.kind == DecisionKind.ACCEPT:
        return Standing.ACCEPTED
    return Standing.REJECTED if decision.kind == DecisionKind.REJECT else Standing.OPEN
