"""Clusters: where hosts stand, at a glance."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from incidents import selectors
from incidents.views.host_map import counts_of, pods_of
from incidents.views.requests import PageRequest

#: Jobs and incidents that the page lists.
_LISTED = 8


@require_safe
def clusters(request: PageRequest) -> HttpResponse:
    """Every cluster; where there is only one, that one."""
    found = list(selectors.clusters_with_counts())
    if len(found) == 1:
        return redirect("incidents:cluster", pk=found[0].pk)
    return render(request, "incidents/clusters.html", {"clusters": found})


@require_safe
def cluster(request: PageRequest, pk: int) -> HttpResponse:
    """One cluster: the map, and the same as a table."""
    found = get_object_or_404(selectors.clusters_with_counts(), pk=pk)
    hosts = selectors.placed_hosts(found)
    context = {
        "cluster": found,
        "counts": counts_of(hosts),
        "pods": pods_of(hosts, selectors.hosts_with_open_incidents(found)),
        "incidents": selectors.desk().filter(cluster=found)[:_LISTED],
    }
    return render(request, "incidents/cluster.html", context)
