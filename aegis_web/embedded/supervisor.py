"""Starts broker, worker and web processes together and stops them together."""

import errno
import fcntl
import os
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from types import FrameType

from aegis_web.embedded.address import local, name_of
from aegis_web.embedded.broker import start_broker
from aegis_web.embedded.processes import Child, Children

#: Seconds that the web process gets to answer its first request, as long as it lives, and after
#: how many it is said that this takes longer than usual.
START_LIMIT, PATIENCE = 600.0, 30.0
HIGHEST_PORT = 65535


class CannotServe(Exception):  # noqa: N818 - it names a state
    """The instance cannot start; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """One embedded instance. `broker_socket` is None where REDIS_URL names a broker."""

    data_dir: Path
    host: str
    port: int
    broker_socket: Path | None
    web_workers: int
    task_workers: int

    @property
    def address(self) -> str:
        """Where people open it."""
        return f"http://{name_of(self.host)}:{self.port}/"

    def serve(self, *, announce: Callable[[], None], prepare: Callable[[], None]) -> int:
        """Run until a signal; the exit code of the instance. Call it inside `only_one_here`.

        `prepare` runs when the broker and the worker are up and the web process answers;
        `announce` after it. A child that ends by itself is started again, and said so; one that
        keeps ending takes the instance down with its last words.
        """
        with children_that_end(self.data_dir / "logs") as children:
            stop = Stop()
            self._start(children)
            self.await_web(children, stop)
            prepare()
            announce()
            while not stop.asked:
                for child in children.ended():
                    if not _revived(children, child):
                        return 1
                time.sleep(0.2)
            return 0

    def _start(self, children: Children) -> None:
        if self.broker_socket is not None:
            start_broker(children, socket=self.broker_socket, data_dir=self.data_dir)
        python = sys.executable
        worker = [python, "-m", "celery", "-A", "aegis_web", "worker", "--beat", "--events"]
        worker += [
            "--queues",
            "default,diagnosis,watch",
            "--concurrency",
            str(self.task_workers),
        ]
        worker += ["--loglevel", "INFO", "--without-gossip", "--without-mingle"]
        children.start("worker", worker)
        # A process of its own: endpoints that are slow to answer hold up no
        # diagnosis, and long diagnoses no alert.
        messenger = [python, "-m", "celery", "-A", "aegis_web", "worker", "--pool", "threads"]
        messenger += [
            "--queues",
            "delivery,inbox,execution",
            "--concurrency",
            "4",
            "--hostname",
            "delivery@%h",
        ]
        messenger += ["--loglevel", "INFO", "--without-gossip", "--without-mingle"]
        children.start("messenger", messenger)
        web = [python, "-m", "gunicorn", "aegis_web.wsgi", "--bind", f"{self.host}:{self.port}"]
        web += ["--workers", str(self.web_workers), "--threads", "4", "--timeout", "300"]
        web += ["--worker-tmp-dir", _fast_folder(), "--no-control-socket"]
        children.start("web", [*web, "--access-logfile", "-"])

    def await_web(self, children: Children, stop: "Stop") -> None:
        """Return when the web process answers; raises `CannotServe` when a child ends before."""
        began = told = time.monotonic()
        asked = f"http://{local(self.host)}:{self.port}/health"
        while (now := time.monotonic()) < began + START_LIMIT and not stop.asked:
            for child in children.ended():
                raise CannotServe(f"{child.name} did not start:\n{children.last_words(child)}")
            if now > told + PATIENCE:
                told = now
                sys.stderr.write(f"Still starting after {now - began:.0f} s: a busy machine? ...\n")
                sys.stderr.flush()
            try:
                with urllib.request.urlopen(asked, timeout=5):
                    return
            except urllib.error.HTTPError as answer:
                if answer.code < HTTPStatus.INTERNAL_SERVER_ERROR:  # by a name that is not served
                    return
                time.sleep(0.1)
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        if not stop.asked:
            said = "\n".join(children.last_words(c) for c in children.started if c.name == "web")
            raise CannotServe(
                f"the web process lives but gave no answer in {START_LIMIT:.0f} s; last words:\n"
                f"{said}\nThe whole log is in {self.data_dir / 'logs'}. What has been prepared "
                "stays: start again when the machine is less busy."
            )


def _revived(children: Children, child: Child) -> bool:
    """Start a child that ended once more; False where that did not help before."""
    code = child.process.returncode
    if child.restarts_too_often:
        last = children.last_words(child)
        sys.stderr.write(f"{child.name} keeps ending (exit {code}); giving up:\n{last}\n")
        return False
    sys.stderr.write(f"{child.name} ended (exit {code}); starting it again\n")
    sys.stderr.flush()
    children.start_again(child)
    return True


def _fast_folder() -> str:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"  # noqa: S108


class Stop:
    """Set by SIGINT and SIGTERM, so that a stop is clean whatever is under way."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True


@contextmanager
def children_that_end(log_dir: Path) -> Iterator[Children]:
    """Children that are stopped whatever happens inside."""
    children = Children(log_dir)
    try:
        yield children
    finally:
        children.stop()


@contextmanager
def only_one_here(data_dir: Path) -> Iterator[None]:
    """Hold the data folder: a second instance on it is refused instead of sharing the database."""
    data_dir.mkdir(parents=True, exist_ok=True)
    data_dir.chmod(0o700)
    with (data_dir / "instance.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CannotServe(
                f"another instance already runs on {data_dir}; "
                "stop it, or set AEGIS_DATA_DIR to another folder"
            ) from error
        yield


def free_port(host: str, wanted: int, tries: int = 20) -> int:
    """`wanted`, or the next port that nothing listens on."""
    if not 0 < wanted <= HIGHEST_PORT - tries:
        raise CannotServe(f"{wanted} is no port that can be used: 1 to {HIGHEST_PORT - tries}")
    for port in range(wanted, wanted + tries):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    continue
                raise CannotServe(
                    f"cannot listen at {host}, port {port}: {error.strerror}; "
                    "set AEGIS_HOST to an address of this machine, AEGIS_PORT to a free port"
                ) from error
            return port
    raise CannotServe(
        f"ports {wanted} to {wanted + tries - 1} are all taken; set AEGIS_PORT to a free one"
    )
