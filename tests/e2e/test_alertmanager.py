"""A real Alertmanager fires and resolves into a running Aegis, its database down in between."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.alertmanager_server import alertmanager
from tests.e2e.instances import Instance
from tests.services import start_postgresql, stop_postgresql


@pytest.mark.long
@pytest.mark.timeout(900)
def test_nothing_is_lost_or_doubled_while_the_database_is_down(
    server_instance: Instance, tmp_path: Path
):
    database = Path(server_instance.environment["DATABASE_URL"].split("@/")[1]).parent
    door = f"{server_instance.address}api/v1/inbox/alertmanager"
    with (
        server_instance.api() as api,
        alertmanager(tmp_path, webhook=door, token=server_instance.token("respond")) as alerts,
    ):
        alerts.alert("node-701")
        wait(lambda: incidents(api, "node-701"))
        stop_postgresql(Path("/") / database)
        try:
            alerts.alert("node-701", ended=True)
            alerts.alert("node-702")
            wait(lambda: alerts.failed() >= 2)
        finally:
            start_postgresql(Path("/") / database)
        wait(lambda: [one["status"] for one in incidents(api, "node-701")] == ["resolved"])
        wait(lambda: incidents(api, "node-702"))
        wait(lambda: len(opened(api)) >= 2)
        time.sleep(6)  # what is repeated comes within two group intervals
        assert [one["status"] for one in incidents(api, "node-702")] == ["triggered"]
        assert len(opened(api)) == 2


def incidents(api: httpx.Client, host: str) -> list[dict[str, Any]]:
    answer = api.get("incidents", params={"host": host, "status": "all"}).raise_for_status()
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def opened(api: httpx.Client) -> list[dict[str, Any]]:
    """Every incident that was ever opened or joined by these alerts."""
    events = [
        event
        for verb in ("incident.opened", "incident.joined")
        for event in api.get("events", params={"verb": verb, "limit": 500}).json()["results"]
    ]
    return [one for one in events if {"node-701", "node-702"} & set(one["data"]["hosts"])]


def wait(until: Callable[[], object], seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if until():
            return
        time.sleep(0.3)
    raise AssertionError("it did not happen in time")
