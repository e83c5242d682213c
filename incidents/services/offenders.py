"""The repeat-offender scores of hosts, kept on their rows so that lists can be sorted by them."""

from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from incidents.figures.lemon import lemon_score
from incidents.models import Host, Incident
from incidents.selectors.offences import offences_of


def rescore(hosts: QuerySet[Host], now: datetime | None = None) -> int:
    """Reckons the scores of these hosts anew; how many changed."""
    now = now or timezone.now()
    chosen = list(hosts)
    found = offences_of(chosen, before=now)
    changed = []
    for host in chosen:
        score = round(lemon_score([one.accusation for one in found[host.pk]], now).score, 4)
        if score != host.lemon_score:
            host.lemon_score = score
            changed.append(host)
    Host.objects.bulk_update(changed, ["lemon_score"], batch_size=500)
    return len(changed)


def rescore_after(incident: Incident) -> None:
    """Reckons anew the hosts that an incident named: someone decided about it."""
    rescore(Host.objects.filter(fault_records__incident=incident).distinct())


def rescore_all() -> int:
    """Lets the scores of all hosts with a past age; how many changed."""
    return rescore(Host.objects.filter(fault_records__isnull=False).distinct())
