"""Whole running instances for end-to-end tests, each private: embedded, and server set-up."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.ports import free_port
from tests.services import open_folder, postgresql, redis_server

ROOT = Path(__file__).resolve().parents[2]
START_LIMIT = 300.0


@dataclass
class Instance:
    """A running Aegis: where it is, who may log in, and the environment its commands need."""

    address: str
    username: str
    password: str
    environment: Mapping[str, str]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    log_dir: Path = Path()
    _tokens: dict[tuple[str, ...], str] = field(default_factory=dict)

    def manage(self, *arguments: str) -> str:
        """Run `manage.py` in this instance's environment; its output."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    def token(self, *scopes: str) -> str:
        """An API token of the first account, the same for the same scopes."""
        if scopes not in self._tokens:
            self._tokens[scopes] = self._issue(scopes)
        return self._tokens[scopes]

    def _issue(self, scopes: Sequence[str]) -> str:
        options = [part for scope in scopes for part in ("--scope", scope)]
        printed = self.manage("issue_token", self.username, "--name", "e2e", *options)
        return printed.strip().splitlines()[-1].strip()

    def api(self, *scopes: str) -> httpx.Client:
        """A client of `/api/v1/` with a token of the first account."""
        headers = {"Authorization": f"Bearer {self.token(*scopes)}"}
        return httpx.Client(base_url=f"{self.address}api/v1/", headers=headers, timeout=30)

    def start_worker(self) -> None:
        """Start a Celery worker with beat beside the web process."""
        queues = "default,diagnosis,watch,delivery,inbox,execution"
        options = ["--beat", "-c", "2", "-Q", queues, "--loglevel", "INFO"]
        self._start("worker", ["-m", "celery", "-A", "aegis_web", "worker", *options])

    def kill_worker(self) -> None:
        """Kill the worker and its children at once, as a machine that loses power does."""
        process = self.processes.pop("worker")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def start_web(self) -> None:
        """Start gunicorn, and wait until it answers."""
        bind = self.address.removeprefix("http://").rstrip("/")
        self._start("web", ["-m", "gunicorn", "aegis_web.wsgi", "-b", bind, "--no-control-socket"])
        _await_health(self)

    def kill_web(self) -> None:
        """Kill the web process and its children at once."""
        process = self.processes.pop("web")
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
            process.wait(timeout=60)


def _environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in {"DATABASE_URL", "REDIS_URL"}}
    quick = {
        "AEGIS_WATCH_INTERVAL_S": "10",
        "AEGIS_WATCH_TICK_S": "2",
        "AEGIS_WEBHOOK_NETWORKS": "127.0.0.1",
    }
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
def server(folder: Path, **more: str) -> Iterator[Instance]:
    """The server set-up: real PostgreSQL, real Redis, gunicorn. The test starts the worker.

    `more` are variables of the environment on top.
    """
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
            **more,
        )
        instance = Instance(
            address=f"http://127.0.0.1:{port}/",
            username="admin",
            password="a long e2e password",
            environment=environment,
            log_dir=folder / "logs",
        )
        _set_up(instance)
        try:
            instance.start_web()
            yield instance
        finally:
            instance.stop()


def _set_up(instance: Instance) -> None:
    """What docs/operating.md has one run once, in one process."""
    account = f"{instance.username!r}, password={instance.password!r}, role='admin'"
    code = (
        "from django.core.management import call_command as run\n"
        "for name in ('migrate', 'load_taxonomy', 'load_metrics'): run(name, verbosity=0)\n"
        "run('collectstatic', interactive=False, verbosity=0)\n"
        "from incidents.models import User\n"
        f"User.objects.create_user({account})"
    )
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
