"""Nobody uploads anything: the watch opens incidents by itself, over a real broker and worker."""

import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from diagnosis.core.placement import Placement
from diagnosis.simulator.exposition import Exposition
from diagnosis.simulator.fleet_paper import PaperTruth, paper_case
from diagnosis.simulator.progress import LiveJob
from diagnosis.simulator.scenarios import simulate
from tests.e2e.instances import Instance
from tests.e2e.journeys import PATIENCE
from tests.prometheus_server import prometheus


def start_job(api: httpx.Client, name: str, placement: Placement, *, started_at: float) -> int:
    """The id of a running attempt."""
    rows = [
        {key: value for key, value in asdict(place).items() if value is not None}
        for place in placement.places
    ]
    job = api.post("jobs", json={"external_id": name, "name": name}).json()["id"]
    began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started_at))
    answer = api.post(f"jobs/{job}/attempts", json={"started_at": began, "placement": rows})
    assert answer.status_code == httpx.codes.CREATED, answer.text
    return int(answer.json()["id"])


def opened_incident(api: httpx.Client, job: str) -> dict[str, Any]:
    """The diagnosed incident of the job, once the watch has opened it."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = api.get("incidents", params={"q": job}).json()["results"]
        if found:
            incident: dict[str, Any] = found[0]
            return incident
        time.sleep(0.5)
    raise AssertionError(f"the watch opened nothing for {job} within {PATIENCE:.0f} s")


def test_a_job_whose_ranks_stand_still_is_an_incident_that_names_one(api: httpx.Client):
    simulation = simulate("hang_compute", seed=11, hosts=2)
    now = time.time()
    job = LiveJob.that_stops_after(simulation.run, start=now - 400, seconds=240)
    attempt = start_job(api, "moe-8x22", simulation.placement, started_at=job.start)
    for ago in (390, 360, 330, 300, 270, 240, 210, 180, 150, 120, 90, 60, 30, 2):
        answer = api.post(f"attempts/{attempt}/progress", json=job.body(now - ago))
        assert answer.status_code == httpx.codes.OK, answer.text

    incident = opened_incident(api, "moe-8x22")

    (culprit,) = simulation.truth.culprits
    assert incident["kind"] == "hang"
    assert f"rank {culprit}" in incident["diagnosis"]["suspect"]


@dataclass(frozen=True)
class Told:
    content: str

    def text(self) -> str:
        return self.content


@pytest.fixture
def slow_nic(tmp_path: Path) -> Iterator[tuple[str, PaperTruth, Placement]]:
    """A Prometheus in which the published case began ten minutes ago."""
    start = time.time() // 15 * 15 - 200 * 15
    window, truth, placement = paper_case(
        3, hosts=8, samples=240, onset=160, recovery=240, start=start
    )
    told = Told(Exposition(faulty=(truth.host, truth.nic)).text(window))
    with prometheus(tmp_path, told) as url:
        yield url, truth, placement


def test_the_papers_case_shows_in_the_browser(
    page: Page,
    embedded_instance: Instance,
    slow_nic: tuple[str, PaperTruth, Placement],
):
    url, truth, placement = slow_nic
    code = f"MetricSource.objects.create(name='prometheus', url='{url}')"
    code = f"from diagnosis.models import MetricSource; {code}"
    embedded_instance.manage("shell", "-v", "0", "-c", code)
    with embedded_instance.api("read", "register_jobs") as api:
        start_job(api, "llama-70b", placement, started_at=truth.onset - 160 * 15 - 300)
        incident = opened_incident(api, "llama-70b")

    page.goto(f"incidents/{incident['id']}")

    answer = page.get_by_role("heading", level=1)
    expect(answer).to_contain_text(f"{truth.host} {truth.nic}")
    expect(answer).to_contain_text(re.compile("iterations take 2[3-9]% longer"))
    expect(page.locator("[data-plots=metrics] .main-svg").first).to_be_visible(timeout=60_000)
    page.goto(f"jobs/{incident['job']['id']}")
    expect(page.get_by_text("slow", exact=True).first).to_be_visible(timeout=60_000)
