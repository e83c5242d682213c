"""Jobs, attempts, placements, hosts."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from incidents.models import Event, Host, Job
from tests.factories import AttemptFactory, ClusterFactory, HostFactory, JobFactory

pytestmark = pytest.mark.django_db
JOB = {"external_id": "48211", "source": "slurm", "cluster": "hall-2", "owner": "alice"}
ROWS = [
    {"rank": 0, "host": "node-000", "local_rank": 0, "gpu": 0},
    {"rank": 1, "host": "node-001.cluster.local", "local_rank": 0, "gpu": "GPU-8f2a", "dp": 1},
]


def post(api: APIClient, place: str, body: Any) -> Any:
    return api.post(f"/api/v1/{place}", body, format="json")


def test_a_new_job_is_201_with_its_address(api: APIClient):
    made = post(api, "jobs", {**JOB, "tp_size": 8})
    assert made.status_code == 201
    assert api.get(made["Location"]).json() == made.json()
    shown = {name: made.json()[name] for name in (*JOB, "tp_size", "pp_size", "state")}
    assert shown == {**JOB, "tp_size": 8, "pp_size": None, "state": "running"}


def test_a_known_job_is_200_and_keeps_what_is_not_said(api: APIClient):
    post(api, "jobs", JOB)
    again = post(api, "jobs", {**JOB, "owner": "", "name": "pretrain"})
    assert (again.status_code, Job.objects.count()) == (200, 1)
    assert (again.json()["owner"], again.json()["name"]) == ("alice", "pretrain")


def test_the_same_id_at_another_scheduler_is_another_job(api: APIClient):
    post(api, "jobs", JOB)
    assert post(api, "jobs", {**JOB, "source": "kubernetes"}).status_code == 201


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("external_id=1", 1),
        ("owner=bob", 1),
        ("cluster=none", 0),
        ("state=running", 2),
        ("q=PRE", 2),
    ],
)
def test_jobs_are_filtered(api: APIClient, query: str, found: int):
    JobFactory(external_id="1", owner="alice")
    JobFactory(external_id="2", owner="bob")
    assert len(api.get(f"/api/v1/jobs?{query}").json()["results"]) == found


def test_an_attempt_takes_its_placement_and_the_next_number(api: APIClient):
    job = JobFactory()
    first = post(api, f"jobs/{job.pk}/attempts", {"placement": ROWS})
    second = post(api, f"jobs/{job.pk}/attempts", {})
    assert (first.status_code, first.json()["number"], second.json()["number"]) == (201, 1, 2)
    placed = api.get(f"{first['Location']}/placement").json()
    assert [row["host"] for row in placed] == ["node-000", "node-001.cluster.local"]


def test_a_number_that_is_taken_is_refused_by_field(api: APIClient):
    attempt = AttemptFactory()
    answer = post(api, f"jobs/{attempt.job_id}/attempts", {"number": attempt.number})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "#/number"


def test_a_placement_comes_back_as_it_was_given(api: APIClient):
    at = f"/api/v1/attempts/{AttemptFactory().pk}/placement"
    assert api.put(at, ROWS, format="json").json() == ROWS
    assert api.get(at).json() == ROWS


def test_a_new_placement_replaces_the_old_one(api: APIClient):
    at = f"/api/v1/attempts/{AttemptFactory().pk}/placement"
    api.put(at, ROWS, format="json")
    assert api.put(at, ROWS[:1], format="json").json() == ROWS[:1]


@pytest.mark.parametrize(
    ("row", "pointer"),
    [
        ({"rank": 0, "host": "node-2"}, "#/1/rank"),
        ({"rank": -1, "host": "node-2"}, "#/1/rank"),
        ({"host": "node-2"}, "#/1/rank"),
        ({"rank": 1, "host": " "}, "#/1/host"),
        ({"rank": 1, "host": "node-2", "gpu": [0]}, "#/1/gpu"),
        ({"rank": 1, "host": "node-2", "gpu": True}, "#/1/gpu"),
        ({"rank": 1, "host": "node-2", "hots": "x"}, "#/1/hots"),
        ("node-2", "#/1"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_replaced(api: APIClient, row: Any, pointer: str):
    at = f"/api/v1/attempts/{AttemptFactory().pk}/placement"
    api.put(at, ROWS, format="json")
    answer = api.put(at, [{"rank": 0, "host": "node-9"}, row], format="json")
    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert api.get(at).json() == ROWS


def test_a_thousand_ranks_take_few_queries(api: APIClient, django_assert_max_num_queries: Any):
    at = f"/api/v1/attempts/{AttemptFactory().pk}/placement"
    rows = [{"rank": r, "host": f"node-{r // 8:03}", "gpu": r % 8} for r in range(1000)]
    with django_assert_max_num_queries(40):
        assert api.put(at, rows, format="json").status_code == 200
    assert Host.objects.count() == 125


def test_an_attempt_ends_with_an_outcome(api: APIClient):
    attempt = AttemptFactory(started_at="2026-11-30T06:00:00Z")
    body = {"outcome": "failed", "ended_at": "2026-11-30T08:20:07+02:00"}
    at = f"/api/v1/attempts/{attempt.pk}"
    ended = api.patch(at, body, format="json", HTTP_IF_MATCH="*").json()
    assert (ended["outcome"], ended["ended_at"]) == ("failed", "2026-11-30T06:20:07Z")


def test_an_end_before_the_start_is_refused_by_field(api: APIClient):
    attempt = AttemptFactory()
    body = {"outcome": "failed", "ended_at": "2001-01-01T00:00:00Z"}
    answer = api.patch(f"/api/v1/attempts/{attempt.pk}", body, format="json", HTTP_IF_MATCH="*")
    assert answer.json()["errors"][0]["pointer"] == "#/ended_at"


def test_hosts_are_found_however_their_name_is_spelt(api: APIClient):
    HostFactory(name="node-007")
    found = api.get("/api/v1/hosts?name=NODE-007.cluster.local:29500").json()["results"]
    assert [host["name"] for host in found] == ["node-007"]


def test_a_hosts_new_state_is_in_the_timeline(api: APIClient):
    host = HostFactory()
    body = {"state": "in-repair", "note": "RMA 4411"}
    answer = api.patch(f"/api/v1/hosts/{host.pk}", body, format="json", HTTP_IF_MATCH="*")
    assert answer.json()["state"] == "in-repair"
    assert "RMA 4411" in Event.objects.get(verb="host.state", host=host).text


def test_clusters_are_listed(api: APIClient):
    cluster = ClusterFactory()
    assert api.get("/api/v1/clusters").json()["results"][0]["name"] == cluster.name
