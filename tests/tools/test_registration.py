"""The scripts as they are called, against Aegis's own REST API."""

import ast
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from incidents.choices import Role
from incidents.models import Attempt, Job
from incidents.services import tokens
from tests.factories import UserFactory, actor
from tests.tools.test_kubernetes import listed, pytorchjob
from tests.tools.test_slurm import JOB

#: The test server needs no collected static files.
pytestmark = pytest.mark.filterwarnings("ignore:No directory at")

TOOLS = Path(__file__).parents[2] / "tools"


def call(script: str, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(TOOLS / script), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin"},
        timeout=60,
    )


@pytest.fixture
def access(live_server: LiveServer, tmp_path: Path) -> list[str]:
    """Options that lead to a running Aegis, with a token that may register jobs."""
    owner = UserFactory.create(role=Role.OPERATOR)
    issued = tokens.issue(
        actor=actor(Role.ADMIN),
        owner=owner,
        name="prolog",
        scopes=["read", "register_jobs"],
        expires_at=timezone.now() + timedelta(days=1),
    )
    file = tmp_path / "token"
    file.write_text(issued.raw)
    return ["--url", live_server.url, "--token-file", str(file)]


def slurm(access: list[str], text: str = JOB) -> "subprocess.CompletedProcess[str]":
    return call("register-from-slurm", "--scontrol", "-", *access, stdin=text)


@pytest.mark.django_db(transaction=True)
def test_a_slurm_job_is_registered_with_its_placement(access: list[str]) -> None:
    done = slurm(access)
    assert (done.returncode, done.stderr) == (0, "")
    attempt = Attempt.objects.get()
    assert (attempt.job.external_id, attempt.number) == ("4711", 3)
    assert attempt.placements.count() == 8


@pytest.mark.django_db(transaction=True)
def test_registering_twice_makes_one_attempt_with_the_later_placement(access: list[str]) -> None:
    slurm(access)
    assert slurm(access, JOB.replace("gpu[001-002]", "gpu[001,009]")).returncode == 0
    hosts = Attempt.objects.get().placements.values_list("host__name", flat=True)
    assert set(hosts) == {"gpu001", "gpu009"}


@pytest.mark.django_db(transaction=True)
def test_the_end_of_a_slurm_job_is_noted(access: list[str]) -> None:
    slurm(access)
    ended = JOB.replace("JobState=RUNNING", "JobState=NODE_FAIL")
    assert slurm(access, ended).returncode == 0
    attempt = Attempt.objects.get()
    assert (attempt.outcome, attempt.ended_at is not None) == ("failed", True)


@pytest.mark.django_db(transaction=True)
def test_pods_are_registered_once_however_often_they_are_seen(access: list[str]) -> None:
    pods = listed(pytorchjob("master", 0, "n1"), pytorchjob("worker", 0, "n2"))
    for _ in range(2):
        done = call("register-from-kubernetes", "--pods", "-", *access, stdin=pods)
        assert (done.returncode, done.stderr) == (0, "")
    assert Job.objects.get().external_id == "team-a/llama"
    assert Attempt.objects.get().placements.count() == 4


@pytest.mark.django_db(transaction=True)
def test_pods_that_come_back_are_the_next_attempt(access: list[str]) -> None:
    first = listed(pytorchjob("master", 0, "n1"))
    again = first.replace("uid-llama-master-0", "uid-of-the-next")
    for pods in (first, again):
        call("register-from-kubernetes", "--pods", "-", *access, stdin=pods)
    assert sorted(Attempt.objects.values_list("number", flat=True)) == [1, 2]


@pytest.mark.django_db(transaction=True)
def test_a_refusal_is_shown_in_the_server_s_words(access: list[str], tmp_path: Path) -> None:
    (tmp_path / "wrong").write_text("aegis_nonsense")
    done = slurm([*access[:2], "--token-file", str(tmp_path / "wrong")])
    assert done.returncode == 1
    assert "HTTP 401" in done.stderr
    assert "Traceback" not in done.stderr


def test_print_sends_nothing_and_needs_no_server() -> None:
    done = call("register-from-slurm", "--scontrol", "-", "--print", stdin=JOB)
    shown = json.loads(done.stdout)
    assert shown["attempt"]["number"] == 3
    assert shown["placement"][7] == {"rank": 7, "host": "gpu002", "local_rank": 3, "gpu": 3}


def test_a_node_list_is_enough() -> None:
    options = ["--nodes", "gpu[1-2]", "--ranks-per-node", "8(x2)", "4711", "--print"]
    assert len(json.loads(call("register-from-slurm", *options).stdout)["placement"]) == 16


@pytest.mark.parametrize(
    ("script", "arguments", "reason"),
    [
        ("register-from-slurm", ["--scontrol", "/none"], "No such file"),
        ("register-from-slurm", [], "give the job's id"),
        ("register-from-slurm", ["--nodes", "gpu[1", "1", "--print"], "bracket"),
        ("register-from-slurm", ["--nodes", "gpu1"], "needs the job's id"),
        ("register-from-slurm", ["4711"], "scontrol"),
        ("register-from-slurm", ["--nodes", "a", "--ranks-per-node", "1", "1"], "no API token"),
        ("register-from-kubernetes", ["--pods", "/dev/null"], "not what"),
    ],
)
def test_what_keeps_a_job_from_being_registered_is_said(
    script: str, arguments: list[str], reason: str
) -> None:
    done = call(script, *arguments)
    assert done.returncode == 1
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("module", sorted(TOOLS.glob("aegis_register/*.py")), ids=lambda p: p.name)
def test_the_scripts_keep_to_the_python_of_old_head_nodes(module: Path) -> None:
    ast.parse(module.read_text(), feature_version=(3, 9))
