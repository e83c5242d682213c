"""What the records know of the parts at hand, as plain data for the engine."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from django.db.models import Q

from diagnosis.core.devices import DeviceSeat, Seats
from diagnosis.core.words import TargetKind
from diagnosis.taxonomy.escalation import PastFinding
from diagnosis.taxonomy.history import History, Offences
from diagnosis.taxonomy.ruleset import Taxonomy
from incidents import models
from incidents.figures.lemon import lemon_score
from incidents.selectors.offences import Offence, offences_of

#: Seats that are handed to the engine; a cluster of more GPUs is known by what its logs tell.
MAX_SEATS = 100_000


def history_for(incident: models.Incident, taxonomy: Taxonomy) -> History:
    """What was known of the cluster's parts when the incident began, without the incident itself.

    Only what a rule may count is read: findings of signatures that escalate, for as long as their
    windows reach back.
    """
    began = incident.began_at
    return History(
        past=tuple(_past(incident, began, taxonomy)),
        seats=Seats(tuple(_seats(incident.cluster, began))),
        offences=_offences(incident, began),
        job=_job_of(incident),
        owner=(incident.job.owner or None) if incident.job else None,
        at=began.timestamp(),
    )


def _past(incident: models.Incident, began: datetime, taxonomy: Taxonomy) -> Iterator[PastFinding]:
    """Devices move between clusters, so their findings are read wherever they were made."""
    rules = {one.code: one.escalates for one in taxonomy.signatures if one.escalates}
    if not rules:
        return
    reach = timedelta(hours=max(rule.window_hours for rule in rules.values()))
    records = (
        models.FaultRecord.objects.filter(code__in=rules)
        .filter(first_at__gte=began - reach, incident__merged_into__isnull=True)
        .filter(Q(incident__cluster=incident.cluster_id) | ~Q(device=None))
        .filter(incident__opened_at__lt=incident.opened_at)
        .exclude(incident=incident.pk)
        .select_related("host", "device", "incident__job")
        .order_by("first_at", "id")
    )
    for one in records:
        identity = one.device.identity if one.device else ""
        yield PastFinding(
            code=one.code,
            time=one.last_at.timestamp(),
            host=one.host.name,
            part=identity or one.part or None,
            job=_job_of(one.incident),
            owner=(one.incident.job.owner or None) if one.incident.job else None,
            identified=bool(identity),
        )


def _job_of(incident: models.Incident) -> str | None:
    return incident.job.external_id if incident.job else None


def _seats(cluster: models.Cluster, at: datetime) -> Iterator[DeviceSeat]:
    """Devices with an identity in their places of that time, as far back as they are known.

    Who held a place at that time comes before those who held it later.
    """
    known = models.DeviceSeat.objects.filter(host__cluster=cluster)
    known = known.exclude(device__uuid="", device__serial="")
    seats = known.filter(Q(until=None) | Q(until__gt=at)).order_by("since", "id")
    rows = seats.values_list(
        "device__kind", "host__name", "device__serial", "device__uuid",
        "pci", "index", "name", "device__model",
    )  # fmt: skip
    for kind, host, serial, uuid, pci, index, name, model in rows[:MAX_SEATS]:
        yield DeviceSeat(TargetKind(kind), host, serial, uuid, pci, index, name, model)


def _offences(incident: models.Incident, began: datetime) -> Mapping[str, Offences]:
    hosts = models.Host.objects.filter(
        cluster=incident.cluster_id, fault_records__score__isnull=False
    ).distinct()
    found = offences_of(list(hosts), before=began, without=incident.pk)
    return {
        host.normalised_name: Offences(
            lemon_score([one.accusation for one in found[host.pk]], began).score,
            in_words(found[host.pk], began),
        )
        for host in hosts
        if found[host.pk]
    }


def in_words(offences: Sequence[Offence], now: datetime) -> str:
    """`named as the cause 3 times before, last 12 days ago (xid-79 twice, xid-48)`."""
    number = len(offences)
    times = {1: "once", 2: "twice"}.get(number, f"{number} times")
    last = max(one.accusation.at for one in offences)
    days = max((now - last).days, 0)
    ago = "today" if days == 0 else f"{days} day{'s' * (days != 1)} ago"
    counted: dict[str, int] = {}
    for one in offences:
        name = one.record.fault or "no fault told"
        counted[name] = counted.get(name, 0) + 1
    faults = ", ".join(f"{name} × {n}" if n > 1 else name for name, n in counted.items())
    return f"named as the cause {times} before, last {ago} ({faults})"
