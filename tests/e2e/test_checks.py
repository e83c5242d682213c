"""Eight runners as eight hosts take the CPU suite, over REST, a real broker and a real worker."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.instances import ROOT, Instance

HOSTS = [f"check-{number}" for number in range(8)]
#: One machine cannot measure eight: the fleet rule is as wide as their disturbing each other.
FAULTS = {
    "check-2": ("slow:matmul", "Matrix product"),
    "check-4": ("configuration:kernel", "Kernel"),
    "check-6": ("hang:loopback", "hangs"),
}
PATIENCE = 420.0


class Runners:
    """Eight processes of `tools/check-runner`, each as its own host."""

    def __init__(self, instance: Instance, folder: Path, faults: Mapping[str, str]) -> None:
        self.instance, self.folder, self.faults = instance, folder, faults
        self.token = instance.token("read", "register_jobs")
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, host: str) -> None:
        options = ["--server", self.instance.address, "--host", host, "--address", "127.0.0.1"]
        options += ["--pause", "0.5", "--fault", self.faults.get(host, "")]
        with (self.folder / f"{host}.log").open("ab") as log:
            self.running[host] = subprocess.Popen(
                [sys.executable, str(ROOT / "tools" / "check-runner"), *options],
                env={**os.environ, "AEGIS_TOKEN": self.token},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def stop(self, host: str) -> None:
        process = self.running.pop(host)
        process.kill()
        process.wait()


@contextmanager
def running(instance: Instance, folder: Path, faults: Mapping[str, str]) -> Iterator[Runners]:
    made = Runners(instance, folder, faults)
    for host in HOSTS:
        made.start(host)
    _all_registered(instance)
    yield made
    for host in list(made.running):
        made.stop(host)


def _all_registered(instance: Instance) -> None:
    """A host that no runner has registered cannot be named."""
    deadline = time.monotonic() + 60
    with instance.api("read") as api:
        while len(shown(api, "check-runners")["results"]) < len(HOSTS):
            assert time.monotonic() < deadline, "not every runner has registered"
            time.sleep(0.5)


@pytest.fixture
def runners(server_instance: Instance, tmp_path: Path) -> Iterator[Runners]:
    faults = {host: fault for host, (fault, _) in FAULTS.items()}
    with running(server_instance, tmp_path, faults) as made:
        yield made


def shown(api: httpx.Client, path: str) -> dict[str, Any]:
    answer = api.get(path)
    assert answer.status_code == httpx.codes.OK, answer.text
    found: dict[str, Any] = answer.json()
    return found


def finished(api: httpx.Client, path: str) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = shown(api, path)
        if found["state"] == "done":
            return found
        time.sleep(1)
    raise AssertionError(f"{path} is not over after {PATIENCE:.0f} s: {shown(api, path)}")


def quick_suite(api: httpx.Client) -> None:
    """The CPU suite with short limits, and wide criteria: eight hosts share this machine."""
    suites = api.get("check-suites").json()["results"]
    suite = next(one["definition"] for one in suites if one["code"] == "cpu")
    for item in suite["items"]:
        item["time_limit_s"] = 15 if item["code"] == "loopback" else 40
        if item["criterion"]["rule"] == "fleet":
            floor = 0.75 if item["code"] == "matmul" else 0.99
            item["criterion"] = {"rule": "fleet", "floor": floor, "deviations": 0.1}
        elif item["criterion"]["rule"] == "bound":
            item["criterion"]["limit"] = 60
    saved = api.post("check-suites", json={"definition": {**suite, "code": "cpu-shared"}})
    assert saved.status_code == httpx.codes.CREATED, saved.text


@pytest.mark.long
@pytest.mark.timeout(600)
def test_exactly_the_faulty_hosts_are_held_and_restarts_lose_nothing(
    server_instance: Instance, runners: Runners, browser: Browser
):
    with server_instance.api("read", "operate") as api:
        quick_suite(api)
        body = {"suite": "cpu-shared", "hosts": HOSTS, "cluster": "default"}
        made = api.post("check-runs", json=body)
        assert made.status_code == httpx.codes.CREATED, made.text
        run = made.json()["id"]

        time.sleep(4)
        runners.stop("check-1")
        server_instance.kill_worker()
        server_instance.kill_web()
        runners.start("check-1")
        server_instance.start_web()
        server_instance.start_worker()

        verdict = finished(api, f"check-runs/{run}")

    held = {host["host"]: host for host in verdict["hosts"] if host["decision"] == "hold"}
    assert set(held) == set(FAULTS), verdict
    for host, (_, why) in FAULTS.items():
        failed = [one["text"] for one in held[host]["reasons"] if one["status"] == "failed"]
        assert len(failed) == 1, failed
        assert why in failed[0]
    others = {host["decision"] for host in verdict["hosts"] if host["host"] not in FAULTS}
    assert others == {"deliver"}
    _in_the_browser(browser, server_instance, run)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_runners_take_an_offline_diagnosis_to_the_host_that_hangs(
    server_instance: Instance, tmp_path: Path, browser: Browser
):
    with (
        running(server_instance, tmp_path, {"check-5": "hang:pair-network"}),
        server_instance.api("read", "operate") as api,
    ):
        suites = api.get("check-suites").json()["results"]
        suite = next(one["definition"] for one in suites if one["code"] == "cpu")
        (pair,) = (item for item in suite["items"] if item["code"] == "pair-network")
        quick = {**pair, "time_limit_s": 20, "criterion": {"rule": "bound", "limit": 1e-4}}
        definition = {**suite, "code": "cpu-groups", "items": [quick]}
        assert api.post("check-suites", json={"definition": definition}).is_success
        body = {
            "hosts": HOSTS,
            "cluster": "default",
            "suite": "cpu-groups",
            "item": pair["code"],
            "confirm": True,
        }
        made = api.post("offline-diagnoses", json=body)
        assert made.status_code == httpx.codes.CREATED, made.text
        answer = finished(api, f"offline-diagnoses/{made.json()['id']}")

    suspects = answer["answer"]["suspects"]
    assert [(one["target"]["host"], one["role"]) for one in suspects] == [("check-5", "culprit")]
    with _signed_in(browser, server_instance) as page:
        page.goto(f"offline/{answer['id']}")
        expect(page.locator(".check-answer")).to_contain_text("check-5: named after")


@contextmanager
def _signed_in(browser: Browser, instance: Instance) -> Iterator[Page]:
    context = browser.new_context(base_url=instance.address)
    page = context.new_page()
    page.goto("login")
    page.get_by_label("Name").fill(instance.username)
    page.get_by_label("Password").fill(instance.password)
    page.get_by_role("button", name="Log in").click()
    yield page
    context.close()


def _in_the_browser(browser: Browser, instance: Instance, run: int) -> None:
    with _signed_in(browser, instance) as page:
        page.goto(f"checks/{run}")
        expect(page.locator(".check-answer")).to_contain_text("5 to deliver, 3 held")
        for host, (_, why) in FAULTS.items():
            expect(_row(page, host)).to_contain_text(why)
            expect(_row(page, host).locator(".chip")).to_have_text("Hold")


def _row(page: Page, host: str) -> Any:
    return page.locator("table.checked tr", has=page.get_by_role("link", name=host, exact=True))
