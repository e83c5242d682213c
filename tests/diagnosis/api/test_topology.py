"""The places of a cluster's hosts in one call."""

import pytest

from incidents.models import Event, Host
from tests.diagnosis.api.test_checks import client, post
from tests.factories import ClusterFactory, HostFactory

pytestmark = pytest.mark.django_db

ROWS = [
    {"name": "a", "pod": 1, "tor": ["t1-b", "t1-a"]},
    {"name": "b", "pod": "2", "rails": {"mlx5_0": "t2"}},
]


def test_hosts_get_their_pod_and_tors_and_new_ones_are_registered():
    HostFactory(cluster=ClusterFactory(name="north"), name="A.example")
    desk = client("read", "operate")
    answer = post(desk, "topology", {"cluster": "north", "hosts": ROWS})
    assert (answer.status_code, answer.json()) == (200, {"hosts": 2, "moved": 2})
    found = dict(Host.objects.values_list("normalised_name", "tor"))
    assert found == {"a": "t1-a, t1-b", "b": "t2"}
    assert set(Host.objects.values_list("pod", flat=True)) == {"1", "2"}


def test_the_same_again_moves_nothing_and_leaves_no_event():
    desk = client("read", "operate")
    ClusterFactory(name="north")
    post(desk, "topology", {"cluster": "north", "hosts": ROWS})
    before = Event.objects.count()
    assert post(desk, "topology", {"cluster": "north", "hosts": ROWS}).json()["moved"] == 0
    assert Event.objects.count() == before


@pytest.mark.parametrize("row", [{}, {"name": 5}, {"name": "a", "tor": [1]}])
def test_a_row_that_cannot_be_read_is_named(row):
    answer = post(client("read", "operate"), "topology", {"hosts": [row]})
    assert answer.status_code == 400
    assert "topology host 0" in answer.content.decode()


def test_a_cluster_that_is_not_there_is_refused():
    refused = post(client("read", "operate"), "topology", {"cluster": "nroth", "hosts": ROWS})
    assert (refused.status_code, Host.objects.count()) == (400, 0)
    assert refused.json()["errors"][0]["pointer"] == "#/cluster"


def test_a_name_that_is_a_list_of_hosts_is_refused_at_its_place():
    rows = [*ROWS, {"name": "node-[001-100]", "pod": "1"}]
    refused = post(client("read", "operate"), "topology", {"hosts": rows})
    assert refused.json()["errors"] == [
        {
            "detail": "'node-[001-100]' is no host's name: write each host out.",
            "pointer": "#/hosts/2/name",
        }
    ]
