"""What a ticket system does over REST, step by step."""

import time
from collections.abc import Mapping
from typing import Any

import httpx

from diagnosis.simulator.simulation import Simulation

#: Seconds that a diagnosis may take from the upload to its end, worker start included.
PATIENCE = 180.0


def open_incident(api: httpx.Client, *, title: str, kind: str) -> int:
    """The id of a new incident."""
    answer = api.post("incidents", json={"title": title, "kind": kind})
    assert answer.status_code == httpx.codes.CREATED, answer.text
    return int(answer.json()["id"])


def upload(api: httpx.Client, incident: int, files: Mapping[str, bytes]) -> None:
    """Hand in all files in one call; that asks for a diagnosis."""
    parts = [("files", (name, content)) for name, content in files.items()]
    answer = api.post(f"incidents/{incident}/evidence", files=parts)
    assert answer.status_code == httpx.codes.CREATED, answer.text


def finished_diagnosis(api: httpx.Client, incident: int) -> dict[str, Any]:
    """The newest diagnosis of the incident once it has ended."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        runs = api.get(f"incidents/{incident}/diagnoses").json()["results"]
        if runs and all(run["state"] in {"done", "failed"} for run in runs):
            found: dict[str, Any] = api.get(f"diagnoses/{runs[0]['id']}").json()
            return found
        time.sleep(0.2)
    raise AssertionError(f"no diagnosis of incident {incident} ended within {PATIENCE:.0f} s")


def diagnose(api: httpx.Client, simulation: Simulation, *, title: str) -> dict[str, Any]:
    """Open an incident about a simulation, hand in its files, wait for the answer."""
    incident = open_incident(api, title=title, kind=simulation.truth.kind.value)
    upload(api, incident, simulation.files)
    return finished_diagnosis(api, incident)
