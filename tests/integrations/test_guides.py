"""The guides of docs/integrations/: their scripts, run as they stand against a live server."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from incidents.choices import Role, TicketState
from incidents.delivery import worker
from incidents.delivery.address import networks
from incidents.models import (
    Attempt,
    Inbox,
    Incident,
    TicketConnector,
    TicketLink,
    WebhookDelivery,
    WebhookSubscription,
)
from incidents.roles import CAPABILITIES
from incidents.services import inbox, tokens
from tests.factories import UserFactory, actor
from tests.receivers import receiver
from tests.services import needed
from tests.ticket_servers import JiraServer, ServiceNowServer, TicketServer, ticket_server
from tests.tools.test_kubernetes import listed, pytorchjob
from tests.tools.test_slurm import JOB

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.filterwarnings("ignore:No directory at"),
]
ROOT = Path(__file__).resolve().parents[2]
GUIDES = {path.stem: path for path in (ROOT / "docs" / "integrations").glob("*.md")}
MOST_LINES = 40
_SCRIPT = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script_of(guide: str) -> str:
    """The guide's one script."""
    (script,) = _SCRIPT.findall(GUIDES[guide].read_text())
    return str(script)


@pytest.fixture
def access(live_server: LiveServer) -> Mapping[str, str]:
    """Where the live server is, and a token of everything that an operator may do."""
    needed("jq", "jq")
    needed("curl", "curl")
    issued = tokens.issue(
        actor=actor(Role.ADMIN),
        owner=UserFactory.create(role=Role.OPERATOR),
        name="guide",
        scopes=CAPABILITIES[Role.OPERATOR],
        expires_at=timezone.now() + timedelta(days=1),
    )
    return {
        "AEGIS": f"{live_server.url}/api/v1",
        "AEGIS_URL": live_server.url,
        "TOKEN": issued.raw,
        "AEGIS_TOKEN": issued.raw,
    }


def run(guide: str, folder: Path, environment: Mapping[str, str]) -> str:
    """What the guide's script prints; it must end well."""
    path = f"{folder}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script_of(guide)],
        cwd=folder,
        env={**os.environ, **environment, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def tool(folder: Path, name: str) -> None:
    """One of the project's tools, on the PATH."""
    program(folder, name, f'exec {sys.executable} {ROOT / "tools" / name} "$@"')


def taken_in() -> Incident:
    """The one incident that comes of what waits in the inboxes."""
    for door in Inbox.objects.all():
        inbox.take_in(door.pk, owner="this test")
    return Incident.objects.get()


@pytest.mark.parametrize("guide", GUIDES)
def test_a_script_has_at_most_forty_lines(guide: str):
    assert len(script_of(guide).splitlines()) <= MOST_LINES


@pytest.mark.parametrize("guide", ["alertmanager", "cloudevents", "nvsentinel"])
def test_an_alert_opens_an_incident_of_its_host(
    guide: str, access: Mapping[str, str], tmp_path: Path
):
    assert '"success"' in run(guide, tmp_path, access)
    assert [host.name for host in taken_in().hosts.all()] == ["node-017"]


def test_what_pagerduty_is_told_opens_and_ends(access: Mapping[str, str], tmp_path: Path):
    run("pagerduty", tmp_path, access)
    assert taken_in().status == "resolved"


@pytest.mark.parametrize(
    ("guide", "server", "names"),
    [
        ("jira", JiraServer(), ("JIRA_URL", "JIRA_ACCOUNT", "JIRA_TOKEN")),
        ("servicenow", ServiceNowServer(), ("SNOW_URL", "SNOW_ACCOUNT", "SNOW_PASSWORD")),
    ],
)
def test_a_ticket_is_opened(
    guide: str,
    server: TicketServer,
    names: tuple[str, str, str],
    access: Mapping[str, str],
    tmp_path: Path,
    settings,
):
    settings.WEBHOOK_NETWORKS = networks(["127.0.0.0/8"])
    with ticket_server(server):
        given = dict(zip(names, (server.url, "aegis", "a secret"), strict=True))
        run(guide, tmp_path, {**access, **given, "JIRA_PROJECT": "OPS"})
        worker.take_turn(TicketConnector.objects.get().pk, owner="this test")
        ticket = TicketLink.objects.get()
        assert (ticket.state, ticket.key in server.tickets) == (TicketState.LIVE, True)
        assert WebhookDelivery.objects.get(is_test=True).state == "delivered"


def test_a_slurm_job_that_fails_opens_an_incident(access: Mapping[str, str], tmp_path: Path):
    tool(tmp_path, "register-from-slurm")
    (tmp_path / "job").write_text(JOB.replace("JobState=RUNNING", "JobState=NODE_FAIL"))
    program(tmp_path, "scontrol", f"cat {tmp_path / 'job'}")
    run("slurm", tmp_path, {**access, "SLURM_JOB_ID": "4711"})
    incident = Incident.objects.get()
    assert incident.attempt is not None
    assert (incident.attempt.job.external_id, incident.attempt.placements.count()) == ("4711", 8)


def test_pods_become_a_job_and_a_node_that_is_not_ready_an_incident(
    access: Mapping[str, str], tmp_path: Path
):
    tool(tmp_path, "register-from-kubernetes")
    (tmp_path / "pods").write_text(listed(pytorchjob("master", 0, "n1")))
    node = {"metadata": {"name": "n9"}}
    ill = {**node, "status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    (tmp_path / "nodes").write_text(json.dumps({"items": [ill]}))
    program(tmp_path, "kubectl", f"cat {tmp_path}/$2")
    run("kubernetes", tmp_path, access)
    assert [host.name for host in taken_in().hosts.all()] == ["n9"]
    assert Attempt.objects.count() == 1


def test_a_receiver_is_subscribed_and_gets_its_test(
    access: Mapping[str, str], tmp_path: Path, settings
):
    settings.WEBHOOK_NETWORKS = networks(["127.0.0.0/8"])
    with receiver() as running:
        run("webhook-receiver", tmp_path, {**access, "RECEIVER": f"{running.url}/hook"})
        worker.take_turn(WebhookSubscription.objects.get().pk, owner="this test")
        assert [one.json["type"] for one in running.received] == ["webhook.test"]
