"""The pages of clusters."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from incidents.choices import HostState
from incidents.models import Cluster
from tests.factories import ClusterFactory, HostFactory, IncidentFactory


@pytest.fixture
def north(db) -> Cluster:
    """A cluster of two ToR groups in one pod; one host is isolated, another has an incident."""
    cluster = ClusterFactory(name="north")
    for number in range(4):
        HostFactory(cluster=cluster, name=f"n-{number}", pod="pod-1", tor=f"tor-{number // 2}")
    cluster.hosts.filter(name="n-0").update(state="isolated")
    IncidentFactory(cluster=cluster).hosts.add(cluster.hosts.get(name="n-3"))
    return cluster


def page(client: Client, cluster: Cluster) -> str:
    return client.get(reverse("incidents:cluster", args=[cluster.pk])).content.decode()


def test_a_group_says_in_words_what_its_cells_show(viewer: Client, north: Cluster) -> None:
    assert "tor-0, 2 hosts: 1 isolated" in page(viewer, north)


def test_a_host_with_an_open_incident_is_framed(viewer: Client, north: Cluster) -> None:
    assert 'class="in-service open" title="n-3: in service, open incident"' in page(viewer, north)


def test_a_group_leads_to_its_hosts(viewer: Client, north: Cluster) -> None:
    hosts = viewer.get(f"{reverse('incidents:hosts')}?cluster=north&tor=tor-0").content.decode()

    assert ("n-0" in hosts, "n-3" in hosts) == (True, False)


def test_hosts_of_no_told_group_can_be_listed(viewer: Client, north: Cluster) -> None:
    HostFactory(cluster=north, name="lonely")

    hosts = viewer.get(f"{reverse('incidents:hosts')}?cluster=north&tor=").content.decode()

    assert ("lonely" in hosts, "n-0" in hosts) == (True, False)


def test_a_single_cluster_needs_no_list(viewer: Client, north: Cluster) -> None:
    answer = viewer.get(reverse("incidents:clusters"))

    assert answer["Location"] == reverse("incidents:cluster", args=[north.pk])


def test_several_clusters_are_listed_with_their_counts(viewer: Client, north: Cluster) -> None:
    ClusterFactory(name="south")

    shown = viewer.get(reverse("incidents:clusters")).context["clusters"]

    found = {one.name: (one.host_count, one.out_count, one.open_count) for one in shown}
    assert found == {"north": (4, 1, 1), "south": (0, 0, 0)}


def test_a_suspect_that_serves_is_not_counted_as_out_of_service(viewer: Client) -> None:
    north = ClusterFactory(name="n")
    ClusterFactory(name="south")
    for state in (HostState.SUSPECT, HostState.ISOLATED, HostState.IN_SERVICE):
        HostFactory(cluster=north, state=state)

    found = viewer.get(reverse("incidents:clusters")).context["clusters"][0]

    assert (found.out_count, found.suspect_count) == (1, 1)


def test_a_map_of_many_hosts_is_light_and_needs_no_more_queries(
    viewer: Client, north: Cluster
) -> None:
    with CaptureQueriesContext(connection) as few:
        page(viewer, north)
    for number in range(4, 304):
        HostFactory(cluster=north, name=f"n-{number}", pod="pod-1", tor=f"tor-{number // 16}")
    with CaptureQueriesContext(connection) as many:
        html = page(viewer, north)

    assert len(many) == len(few) < 15
    assert html.count("<i></i>") > 290
