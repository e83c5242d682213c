"""`tools/check-runner` against a running server: what it takes, runs and sends."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from diagnosis.models import CheckRun, CheckTask
from diagnosis.services import check_runs, check_suites, check_tasks
from incidents.choices import Role
from incidents.services import tokens
from tests.factories import UserFactory, actor

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.filterwarnings(
        "ignore:No directory at"
    ),  # the server starts before settings change
]

RUNNER = Path(__file__).resolve().parents[2] / "tools" / "check-runner"
OPERATOR = actor(Role.OPERATOR)


def suite_with(*commands: str, limit: float = 20) -> str:
    """A suite of these commands in one phase."""
    items = [
        {
            "code": f"item-{number}",
            "title": command,
            "command": command,
            "parser": "readings",
            "value": "x",
            "unit": "",
            "direction": "higher",
            "criterion": {"rule": "bound", "limit": 0},
            "time_limit_s": limit,
            "phase": "configuration",
        }
        for number, command in enumerate(commands)
    ]
    document = {"code": "trial", "title": "Trial", "items": items}
    return check_suites.save_version(actor=OPERATOR, definition=document).code


def ran(server: LiveServer, suite: str, *options: str) -> list[CheckTask]:
    """The tasks after a runner took them all."""
    check_tasks.register(actor=OPERATOR, name="here")
    run = check_runs.start(actor=OPERATOR, suite=suite, names=["here"])
    token = tokens.issue(
        actor=actor(Role.ADMIN),
        owner=UserFactory(role=Role.OPERATOR),
        name="runner",
        scopes=["read", "register_jobs"],
        expires_at=timezone.now() + timedelta(hours=1),
    )
    command = [sys.executable, str(RUNNER), "--server", server.url, "--host", "here", "--once"]
    environment = {**os.environ, "AEGIS_TOKEN": token.raw}
    subprocess.run([*command, *options], env=environment, check=True, timeout=110)
    return list(CheckRun.objects.get(pk=run.pk).tasks.all())


def test_it_sends_raw_output_and_how_the_command_ended(live_server: LiveServer):
    (task,) = ran(live_server, suite_with("sh -c 'echo reading x 4; echo oops >&2; exit 3'"))
    assert (task.stdout, task.stderr) == ("reading x 4\n", "oops\n")
    assert (task.ending, task.exit_code) == ("exited", 3)


def test_a_missing_tool_is_told_and_a_command_without_end_is_stopped(live_server: LiveServer):
    missing, endless = ran(live_server, suite_with("no-such-tool -x", "sleep 60", limit=3))
    assert missing.ending == "missing"
    assert (endless.ending, endless.exit_code) == ("timed-out", None)


def test_its_own_checks_need_no_tools(live_server: LiveServer):
    own = ["@configuration", "@clock", "@memory", "@matmul", "@disk", "@loopback"]
    tasks = ran(live_server, suite_with(*own))
    assert all(task.stdout.endswith("done\n") for task in tasks), [task.stderr for task in tasks]


def test_its_fault_switch_changes_the_wanted_item_alone(live_server: LiveServer):
    first, second = ran(
        live_server,
        suite_with("@configuration", "@configuration"),
        "--fault",
        "configuration:item-1",
    )
    assert "changed" not in first.stdout
    assert "changed" in second.stdout
