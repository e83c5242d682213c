"""The pages that `bench_web` asks for, each with filters and searches that people use."""

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from incidents.choices import OPEN_STATUSES
from incidents.models import Attempt, Host, Incident, Job, RankPlacement

_HTMX = {"HX-Request": "true"}
Page = tuple[str, Mapping[str, str]]


def pages() -> Mapping[str, Page]:
    """Name → address and headers."""
    found = {
        **_desk(),
        "incident": reverse("incidents:incident", args=[_worst_incident()]),
        "incident resolved": reverse(
            "incidents:incident", args=[Incident.objects.earliest("id").pk]
        ),
        **_jobs_and_hosts(),
        "reports": reverse("incidents:reports"),
        "reports of a year": f"{reverse('incidents:reports')}?since={_year_ago()}",
        "reports of a fault": f"{reverse('incidents:reports')}?cluster=lab&fault=xid-79",
        "api incidents": "/api/v1/incidents",
        "api incidents search": "/api/v1/incidents?status=all&q=xid-79",
    }
    plain: dict[str, Page] = {name: (path, {}) for name, path in found.items()}
    plain["incident live"] = (found["incident"], _HTMX)
    plain["desk live"] = (found["desk"], _HTMX)
    return plain


def _desk() -> dict[str, str]:
    some = Incident.objects.filter(status__in=OPEN_STATUSES, job__isnull=False).latest("id")
    job = Job.objects.filter(incidents=some)[0].name
    host = Host.objects.order_by("id")[1234 % Host.objects.count()]
    ways = {
        "": "",
        "kind": "kind=hang",
        "severity": "severity=critical",
        "cause": "class=user",
        "cluster": "cluster=lab",
        "owner": "owner=vision-research",
        "mine": "assignee=me",
        "all": "status=all",
        "resolved": "status=resolved",
        "all by cluster and cause": "status=all&cluster=lab&class=storage",
        "search job": f"q={job}",
        "search host": f"q={host.name}",
        "search code": "q=xid-79",
        "search number": f"q={some.reference}",
        "search all by job": f"status=all&q={job}",
        "search all by host": f"status=all&q={host.name}",
        "search all by code": "status=all&q=ecc",
        "search all for words": "status=all&q=stands still",
        "search all for nothing": "status=all&q=no-such-thing",
    }
    start = reverse("incidents:desk")
    return {f"desk {name}".strip(): f"{start}?{query}" for name, query in ways.items()}


def _jobs_and_hosts() -> dict[str, str]:
    jobs, hosts = reverse("incidents:jobs"), reverse("incidents:hosts")
    attempt = RankPlacement.objects.select_related("attempt").latest("rank").attempt
    return {
        "jobs": jobs,
        "jobs search": f"{jobs}?name=llama",
        "job": reverse("incidents:job", args=[attempt.job_id]),
        "job many attempts": reverse("incidents:job", args=[_most_tried()]),
        "placement": reverse("incidents:placement", args=[attempt.pk]),
        "hosts": hosts,
        "hosts by state": f"{hosts}?state=isolated",
        "hosts search": f"{hosts}?name=node-00",
        "host": reverse("incidents:host", args=[_most_blamed()]),
    }


def _year_ago() -> str:
    return (timezone.now() - timedelta(days=364)).date().isoformat()


def _worst_incident() -> int:
    return int(Incident.objects.filter(status__in=OPEN_STATUSES).latest("gpu_count").pk)


def _most_tried() -> int:
    return int(Attempt.objects.order_by("-number").values_list("job", flat=True)[0])


def _most_blamed() -> int:
    hosts = Host.objects.annotate(blame=Count("incidents")).order_by("-blame")
    return int(hosts[0].pk)
