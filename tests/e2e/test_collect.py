"""`tools/collect` beside a running job, against a running Aegis behind a network that fails."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from diagnosis.simulator.scenarios import simulate
from diagnosis.simulator.simulation import Simulation
from tests.e2e.instances import ROOT, Instance
from tests.e2e.journeys import PATIENCE
from tests.e2e.lossy_network import Network, Weather, network_to
from tests.e2e.test_watch import start_job

RANKS = range(8, 16)


@dataclass
class Node:
    """The second node of a job: its logs and dump folder, and the collector that follows them."""

    folder: Path
    simulation: Simulation
    attempt: int
    collector: subprocess.Popen[bytes]

    @property
    def host(self) -> str:
        return self.simulation.placement.by_rank[RANKS[0]].host

    def said(self) -> str:
        return (self.folder / "collect.txt").read_text()

    def log(self, step: int) -> None:
        for rank in RANKS:
            with (self.folder / f"rank-{rank}.log").open("a") as log:
                log.write(f"iteration {step} | loss 2.1\n")

    def dump(self) -> None:
        for rank in RANKS:
            name = f"comm_lib_trace_rank_{rank}"
            (self.folder / name).write_bytes(self.simulation.files[name])


@pytest.fixture
def network(embedded_instance: Instance) -> Iterator[Network]:
    parts = urlsplit(embedded_instance.address)
    with network_to(str(parts.hostname), int(parts.port or 80), losing=b"/evidence?") as network:
        yield network


@pytest.fixture
def reader(embedded_instance: Instance) -> Iterator[httpx.Client]:
    with embedded_instance.api() as api:
        yield api


@pytest.fixture
def node(
    embedded_instance: Instance, reader: httpx.Client, network: Network, tmp_path: Path
) -> Iterator[Node]:
    simulation = simulate("hang_compute", seed=5, hosts=2)
    name = f"collected-{os.getpid()}-{time.monotonic_ns()}"
    attempt = start_job(reader, name, simulation.placement, started_at=time.time() - 60)
    host = simulation.placement.by_rank[RANKS[0]].host
    path = urlsplit(embedded_instance.address).path
    command = [
        sys.executable, str(ROOT / "tools" / "collect"),
        "--url", f"http://127.0.0.1:{network.port}{path}", "--attempt", str(attempt),
        "--host", host, "--logs", f"{tmp_path}/rank-*.log",
        "--dumps", f"{tmp_path}/comm_lib_trace_rank_*", "--state", f"{tmp_path}/state",
        "--every", "0.5", "--since", str(time.time() - 60),
    ]  # fmt: skip
    environment = {**os.environ, "AEGIS_TOKEN": embedded_instance.token()}
    with (tmp_path / "collect.txt").open("wb") as said:
        collector = subprocess.Popen(command, env=environment, stderr=said)
    yield Node(tmp_path, simulation, attempt, collector)
    collector.terminate()
    collector.wait(timeout=30)


def eventually(told: Callable[[], Any], node: Node) -> Any:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := told():
            return found
        time.sleep(0.3)
    raise AssertionError(f"not within {PATIENCE:.0f} s; the collector said:\n{node.said()}")


def handed_in(api: httpx.Client, attempt: int) -> list[dict[str, Any]]:
    """What is stored of the one incident of this attempt."""
    incidents = api.get("incidents", params={"attempt": attempt}).json()["results"]
    if not incidents:
        return []
    (incident,) = incidents
    found: list[dict[str, Any]] = api.get(
        f"incidents/{incident['id']}/evidence", params={"limit": 100}
    ).json()["results"]
    return found


@pytest.mark.long
def test_a_nodes_evidence_arrives_once_through_cuts_and_lost_answers(
    node: Node, reader: httpx.Client, network: Network
):
    names = {f"comm_lib_trace_rank_{rank}": rank for rank in RANKS}
    names |= {f"rank-{rank}.log": rank for rank in RANKS}
    node.log(step=10)
    network.weather = Weather.CUT
    node.dump()
    time.sleep(4)
    assert node.collector.poll() is None
    assert not handed_in(reader, node.attempt)

    network.weather = Weather.LOSES_ANSWERS
    eventually(lambda: network.lost and handed_in(reader, node.attempt), node)
    network.weather = Weather.FAIR
    eventually(lambda: len(handed_in(reader, node.attempt)) >= len(names), node)
    time.sleep(3)

    found = handed_in(reader, node.attempt)
    assert sorted(item["name"] for item in found) == sorted(names)
    assert {item["name"]: item["rank"] for item in found} == names
    assert {item["host"] for item in found} == {node.host}
