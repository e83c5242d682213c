"""Whole running instances for end-to-end tests, each private: embedded, and server set-up."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.services import open_folder, postgresql, redis_server

ROOT = Path(__file__).resolve().parents[2]
START_LIMIT = 90.0


@dataclass
class Instance:
    """A running Aegis: where it is, who may log in, and the environment its commands need."""

    address: str
    username: str
    password: str
    environment: Mapping[str, str]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    log_dir: Path = Path()

    def manage(self, *arguments: str) -> str:
        """Run `manage.py` in this instance's environment; its output."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    def token(self, *scopes: str) -> str:
        """A fresh API token of the first account."""
        options = [part for scope in scopes for part in ("--scope", scope)]
        printed = self.manage("issue_token", self.username, "--name", "e2e", *options)
        return printed.strip().splitlines()[-1].strip()

    def api(self, *scopes: str) -> httpx.Client:
        """A client of `/api/v1/` with a fresh token."""
        headers = {"Authorization": f"Bearer {self.token(*scopes)}"}
        return httpx.Client(base_url=f"{self.address}api/v1/", headers=headers, timeout=30)

    def start_worker(self) -> None:
        """Start a Celery worker with beat beside the web process."""
        self._start("worker", ["-m", "celery", "-A", "aegis_web", "worker", "--beat", "-c", "2",
                               "-Q", "default,diagnosis,watch", "--loglevel", "INFO"])  # fmt: skip

    def kill_worker(self) -> None:
        """Kill the worker and its children at once, as a machine that loses power does."""
        process = self.processes.pop("worker")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _start(self, name: str, arguments: list[str]) -> None:
        self.log_dir.mkdir(parents=True, exist_ok=True)
        with (self.log_dir / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def stop(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(timeout=30)


def free_port() -> int:
    """A port below the ephemeral range that nothing listens on."""
    for port in range(18000, 32000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise RuntimeError("no free port")


def _environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in {"DATABASE_URL", "REDIS_URL"}}
    quick = {"AEGIS_WATCH_INTERVAL_S": "10", "AEGIS_WATCH_TICK_S": "2"}
    data = {"AEGIS_DATA_DIR": str(folder / "data"), "PYTHONUNBUFFERED": "1"}
    return {**kept, **data, **quick, **more}


@contextmanager
def embedded(folder: Path, *options: str) -> Iterator[Instance]:
    """`manage.py serve` on an empty data folder, as `make run` starts it."""
    port = free_port()
    environment = _environment(folder, AEGIS_PORT=str(port))
    output = folder / "serve.txt"
    with output.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", *options],
            cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        printed = _wait_for(output, r"log in: +(\S+) / (\S+)", process)
        address = _wait_for(output, r"running at (\S+)", process)[0]
        yield Instance(
            address=address,
            username=printed[0],
            password=printed[1],
            environment=environment,
            processes={"serve": process},
            log_dir=folder / "data" / "logs",
        )
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait_for(output: Path, pattern: str, process: subprocess.Popen[bytes]) -> tuple[str, ...]:
    deadline = time.monotonic() + START_LIMIT
    while time.monotonic() < deadline:
        if found := re.search(pattern, output.read_text()):
            return tuple(map(str, found.groups()))
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise AssertionError(f"the instance did not start:\n{output.read_text()}")


@contextmanager
def server(folder: Path) -> Iterator[Instance]:
    """The server set-up: real PostgreSQL, real Redis, gunicorn. The test starts the worker."""
    port = free_port()
    with (
        open_folder() as open_to_all,
        postgresql(open_to_all / "postgres") as database,
        redis_server(folder / "redis") as broker,
    ):
        environment = _environment(
            folder,
            DATABASE_URL=database,
            REDIS_URL=broker,
            AEGIS_DIAGNOSIS_LEASE_S="5",
            AEGIS_SWEEP_S="2",
            AEGIS_VISIBILITY_TIMEOUT_S="5",
        )
        instance = Instance(
            address=f"http://127.0.0.1:{port}/",
            username="admin",
            password="a long e2e password",
            environment=environment,
            log_dir=folder / "logs",
        )
        instance.manage("migrate", "-v", "0")
        instance.manage("load_taxonomy", "-v", "0")
        instance.manage("load_metrics", "-v", "0")
        instance.manage("collectstatic", "--noinput", "-v", "0")
        _first_admin(instance)
        instance._start("web", ["-m", "gunicorn", "aegis_web.wsgi", "-b", f"127.0.0.1:{port}"])
        try:
            _await_health(instance)
            yield instance
        finally:
            instance.stop()


def _first_admin(instance: Instance) -> None:
    account = f"'{instance.username}', password='{instance.password}', role='admin'"
    code = f"from incidents.models import User; User.objects.create_user({account})"
    instance.manage("shell", "-v", "0", "-c", code)


def _await_health(instance: Instance) -> None:
    deadline = time.monotonic() + START_LIMIT
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{instance.address}health").status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError((instance.log_dir / "web.log").read_text())
