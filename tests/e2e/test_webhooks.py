"""A webhook from the subscription to the receiver's own process, through a real worker."""

import os
import subprocess
import sys
import time

import httpx

from tests.e2e.instances import ROOT, Instance
from tests.e2e.journeys import PATIENCE
from tests.ports import free_port

RECEIVER = ROOT / "docs" / "examples" / "receive_webhooks.py"


def test_the_documented_receiver_hears_of_an_incident(instance: Instance):
    port = free_port()
    with instance.api() as api:
        given = {"name": "e2e", "url": f"http://127.0.0.1:{port}/", "events": ["incident.*"]}
        secret = api.post("webhooks", json=given).raise_for_status().json()["secret"]
        environment = {**os.environ, "AEGIS_WEBHOOK_SECRET": secret}
        command = [sys.executable, str(RECEIVER), str(port)]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as receiver:
            try:
                wait_for(port)
                opened = api.post("incidents", json={"title": "it hangs"}).raise_for_status()
                told = f"incident.opened INC-{opened.json()['id']} "
                assert receiver.stdout is not None
                assert any(told in line for line in receiver.stdout)
            finally:
                receiver.terminate()


def wait_for(port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            httpx.post(f"http://127.0.0.1:{port}/")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the receiver did not start")
