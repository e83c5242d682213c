"""What the pages of clusters read: every host by its place, few columns, few queries."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from incidents.choices import OPEN_STATUSES, HostState, JobState
from incidents.models import Cluster, Host, Incident, Job

_SERVES = (HostState.IN_SERVICE, HostState.SUSPECT)


class PlacedHost(NamedTuple):
    """A host of the map."""

    pk: int
    name: str
    pod: str
    tor: str
    state: str


def clusters_with_counts() -> QuerySet[Cluster]:
    """Every cluster with its hosts, how many are out of service or suspect, and open incidents.

    A suspect is still in service: it may run a job.
    """
    here = {"cluster": OuterRef("pk")}
    incidents = Incident.objects.filter(status__in=OPEN_STATUSES, **here)
    running = Job.objects.filter(state=JobState.RUNNING, **here)
    return Cluster.objects.annotate(
        host_count=Count("hosts"),
        out_count=Count("hosts", filter=~Q(hosts__state__in=_SERVES)),
        suspect_count=Count("hosts", filter=Q(hosts__state=HostState.SUSPECT)),
        open_count=_count(incidents),
        running_count=_count(running),
    ).order_by("name")


def _count(rows: QuerySet[Any]) -> Coalesce:
    """How many rows of another table there are, by its `cluster`."""
    grouped = rows.order_by().values("cluster").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(grouped), 0)


def placed_hosts(cluster: Cluster) -> Sequence[PlacedHost]:
    """The hosts of a cluster, by pod, ToR group and name."""
    found = Host.objects.filter(cluster=cluster).order_by("pod", "tor", "normalised_name", "id")
    return [PlacedHost(*row) for row in found.values_list("id", "name", "pod", "tor", "state")]


def hosts_with_open_incidents(cluster: Cluster) -> frozenset[int]:
    """The keys of hosts that an open incident of the cluster names."""
    still_open = Incident.objects.filter(cluster=cluster, status__in=OPEN_STATUSES)
    return frozenset(still_open.order_by().values_list("hosts", flat=True)) - {None}
