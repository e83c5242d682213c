"""REST of the delivery checks."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from diagnosis.models import CheckTask
from incidents.choices import Role
from incidents.models import Host
from incidents.services import tokens
from tests.factories import (
    AttemptFactory,
    ClusterFactory,
    HostFactory,
    RankPlacementFactory,
    UserFactory,
    actor,
)

pytestmark = pytest.mark.django_db


def client(*scopes: str) -> APIClient:
    issued = tokens.issue(
        actor=actor(Role.ADMIN),
        owner=UserFactory(role=Role.OPERATOR),
        name="runner",
        scopes=scopes,
        expires_at=timezone.now() + timedelta(hours=1),
    )
    made = APIClient()
    made.credentials(HTTP_AUTHORIZATION=f"Bearer {issued.raw}")
    return made


@pytest.fixture(autouse=True)
def _registered() -> None:
    cluster = ClusterFactory(name="north")
    for name in "abc":
        HostFactory(cluster=cluster, name=name)


@pytest.fixture
def desk() -> APIClient:
    return client("read", "operate")


@pytest.fixture
def runner() -> APIClient:
    return client("read", "register_jobs")


def post(api: APIClient, path: str, body: Any = None, **headers: Any) -> Any:
    return api.post(f"/api/v1/{path}", body or {}, format="json", **headers)


def test_a_runner_takes_a_command_streams_its_output_and_ends_it(
    desk: APIClient, runner: APIClient
):
    made = post(desk, "check-runs", {"suite": "cpu", "hosts": ["a", "b", "c"]})
    assert made.status_code == 201
    registered = post(runner, "check-runners", {"host": "a", "address": "10.0.0.1"}).json()
    task = post(runner, f"check-runners/{registered['id']}/tasks").json()["task"]
    assert (task["item"], task["command"]) == ("kernel", "@configuration")
    path = f"check-tasks/{task['id']}/output"
    assert post(runner, path, {"stdout": "reading kernel 6.1\n"}).json() == {"state": "claimed"}
    ended = post(runner, path, {"stdout": "done\n", "ending": "exited", "exit_code": 0})
    assert ended.json() == {"state": "done"}
    assert CheckTask.objects.get(pk=task["id"]).stdout == "reading kernel 6.1\ndone\n"
    assert post(runner, path, {"stdout": "more"}).status_code == 409


def test_a_run_shows_its_hosts_and_is_made_once_a_key(desk: APIClient):
    body = {"suite": "cpu", "hosts": ["a", "b"]}
    first = post(desk, "check-runs", body, HTTP_IDEMPOTENCY_KEY="one")
    again = post(desk, "check-runs", body, HTTP_IDEMPOTENCY_KEY="one")
    assert first.json()["id"] == again.json()["id"]
    shown = desk.get(f"/api/v1/check-runs/{first.json()['id']}").json()
    assert [host["host"] for host in shown["hosts"]] == ["a", "b"]


def test_a_host_without_a_runner_says_what_to_do_until_one_asks(desk: APIClient, runner: APIClient):
    run = post(desk, "check-runs", {"suite": "cpu", "hosts": ["a", "b"]}).json()["id"]
    registered = post(runner, "check-runners", {"host": "a"}).json()
    post(runner, f"check-runners/{registered['id']}/tasks")
    hosts = desk.get(f"/api/v1/check-runs/{run}").json()["hosts"]
    told = "No runner of this host has asked yet: start tools/check-runner there."
    assert {one["host"]: one["waits_for"] for one in hosts} == {"a": "", "b": told}


def test_hosts_that_run_a_job_take_a_second_word(desk: APIClient):
    RankPlacementFactory(host=Host.objects.get(name="a"), attempt=AttemptFactory())
    body = {"suite": "cpu", "hosts": ["a", "b"]}
    refused = post(desk, "check-runs", body)
    assert (refused.status_code, refused.json()["type"][-16:]) == (409, "hosts-in-service")
    assert "A job runs on a:" in refused.json()["detail"]
    run = post(desk, "check-runs", {**body, "confirm": True})
    assert run.status_code == 201
    again = f"check-runs/{run.json()['id']}/repeat"
    post(desk, f"check-runs/{run.json()['id']}/cancel")
    assert post(desk, again).status_code == 409
    assert post(desk, again, {"confirm": True}).status_code == 201


def test_a_run_is_cancelled_once(desk: APIClient):
    run = post(desk, "check-runs", {"suite": "cpu", "hosts": ["a", "b"]}).json()["id"]
    cancelled = post(desk, f"check-runs/{run}/cancel")
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
    assert set(Host.objects.values_list("state", flat=True)) == {"in-service"}
    assert {one["waits_for"] for one in cancelled.json()["hosts"]} == {""}
    assert post(desk, f"check-runs/{run}/cancel").status_code == 409


def test_a_suite_is_edited_as_a_new_version_and_a_bad_one_is_refused(desk: APIClient):
    suites = desk.get("/api/v1/check-suites").json()["results"]
    definition = next(one["definition"] for one in suites if one["code"] == "cpu")
    same = post(desk, "check-suites", {"definition": definition, "why": "ours"})
    assert (same.status_code, same.json()["detail"][:15]) == (409, "Nothing changed")
    definition["title"] = "Ours"
    saved = post(desk, "check-suites", {"definition": definition, "why": "ours"})
    assert (saved.status_code, saved.json()["version"]) == (201, 2)
    refused = post(desk, "check-suites", {"definition": {"code": "x", "title": "X"}})
    assert refused.status_code == 400
    assert "items" in refused.json()["detail"]


def test_hosts_without_a_cluster_are_of_the_one_that_knows_them(desk: APIClient, runner: APIClient):
    post(runner, "check-runners", {"host": "a"})
    made = post(desk, "check-runs", {"suite": "cpu", "hosts": ["a", "b"]})
    assert made.json()["cluster"] == "north"
    assert Host.objects.count() == 3


@pytest.mark.parametrize("host", ["d", "node-[1-3]"])
def test_a_host_that_is_not_registered_is_refused_by_name(desk: APIClient, host: str):
    refused = post(desk, "check-runs", {"suite": "cpu", "hosts": ["a", host], "cluster": "north"})
    assert refused.status_code == 400
    assert host in refused.json()["detail"]
    assert Host.objects.count() == 3


@pytest.mark.parametrize("path", ["check-runs", "check-suites"])
def test_a_runner_starts_and_edits_nothing(runner: APIClient, path: str):
    assert post(runner, path, {"suite": "cpu", "hosts": ["a"]}).status_code == 403
