"""A real Alertmanager for tests: private, on a loopback port, notifying one webhook."""

import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.ports import free_port
from tests.services import needed

_CONFIG = """
route:
  receiver: aegis
  group_by: [alertname, hostname]
  group_wait: 1s
  group_interval: 2s
  repeat_interval: 4h
receivers:
- name: aegis
  webhook_configs:
  - url: {url}
    send_resolved: true
    http_config:
      authorization:
        credentials: {token}
"""


@dataclass(frozen=True, slots=True)
class Alertmanager:
    """A running Alertmanager."""

    url: str

    def alert(self, host: str, *, ended: bool = False, **labels: str) -> None:
        """Reports that an alert of a host fires, or has ended."""
        alert = {"labels": {"alertname": "XidError", "hostname": host, **labels}}
        times = {"endsAt": datetime.now(UTC).isoformat()} if ended else {}
        self._ask("/api/v2/alerts", json.dumps([{**alert, **times}]).encode())

    def failed(self) -> int:
        """How many requests to the webhook failed."""
        counter = 'alertmanager_notification_requests_failed_total{integration="webhook'
        for line in self._ask("/metrics").splitlines():
            if line.startswith(counter):
                return int(float(line.rpartition(" ")[2]))
        return 0

    def _ask(self, path: str, body: bytes | None = None) -> str:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, body, headers)  # noqa: S310 - our own
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - our own
            return str(answer.read().decode())


@contextmanager
def alertmanager(folder: Path, *, webhook: str, token: str) -> Iterator[Alertmanager]:
    """An Alertmanager that notifies `webhook`; gone when the block ends."""
    program = needed("prometheus-alertmanager", "prometheus-alertmanager")
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "alertmanager.yml"
    config.write_text(_CONFIG.format(url=webhook, token=token))
    port = free_port()
    options = {
        "config.file": config,
        "storage.path": folder / "data",
        "web.listen-address": f"127.0.0.1:{port}",
        "cluster.listen-address": "",
        "log.level": "warn",
    }
    command = [program, *(f"--{name}={value}" for name, value in options.items())]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}", process)
        yield Alertmanager(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait_until_ready(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/-/ready", timeout=2):  # noqa: S310 - our own URL
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("Alertmanager did not get ready")
