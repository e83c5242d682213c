"""REST of offline diagnoses."""

import pytest

from diagnosis.models import OfflineDiagnosis
from incidents.models import Cluster
from tests.diagnosis.api.test_checks import client, post
from tests.factories import ClusterFactory, HostFactory

pytestmark = pytest.mark.django_db

HOSTS = [f"n-{number}" for number in range(8)]


@pytest.fixture(autouse=True)
def _registered() -> None:
    cluster = ClusterFactory(name="north")
    for name in HOSTS:
        HostFactory(cluster=cluster, name=name)


def test_hosts_that_the_cluster_does_not_have_are_named():
    desk = client("read", "operate")
    refused = post(desk, "offline-diagnoses", {"hosts": ["n-1", "typo"], "cluster": "north"})
    assert refused.status_code == 400
    assert "Not registered in cluster north: typo." in refused.json()["detail"]
    assert refused.json()["errors"][0]["pointer"] == "#/hosts"
    assert (
        post(desk, "offline-diagnoses", {"hosts": ["n-1"], "cluster": "nroth"}).status_code == 400
    )
    assert list(Cluster.objects.values_list("name", flat=True)) == ["north"]


def test_hosts_in_service_take_a_second_word():
    desk = client("read", "operate")
    refused = post(desk, "offline-diagnoses", {"hosts": HOSTS})
    assert refused.status_code == 409
    assert refused.json()["type"].endswith("hosts-in-service")
    assert "Not out of service: n-0, n-1," in refused.json()["detail"]
    assert not OfflineDiagnosis.objects.exists()


def test_a_program_plays_an_offline_diagnosis_to_its_verdict():
    desk = client("read", "operate")
    made = post(desk, "offline-diagnoses", {"hosts": HOSTS, "confirm": True})
    assert made.status_code == 201
    state = made.json()
    while state["state"] == "running":
        number = len(state["rounds"])
        results = ["n-3" not in group for group in state["rounds"][-1]["groups"]]
        path = f"offline-diagnoses/{state['id']}/rounds/{number}"
        answer = post(desk, path, {"results": results})
        assert answer.status_code == 200, answer.json()
        state = answer.json()
    assert [one["target"]["host"] for one in state["answer"]["suspects"]] == ["n-3"]


def test_results_that_do_not_fit_are_refused_with_the_reason():
    desk = client("read", "operate")
    made = post(desk, "offline-diagnoses", {"hosts": HOSTS, "confirm": True}).json()
    refused = post(desk, f"offline-diagnoses/{made['id']}/rounds/1", {"results": [True]})
    assert refused.status_code == 400
    assert "4 groups" in refused.json()["detail"]
