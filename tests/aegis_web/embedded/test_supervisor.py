"""Where and whether an embedded instance may start."""

import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aegis_web.embedded import supervisor
from aegis_web.embedded.processes import Children
from aegis_web.embedded.supervisor import (
    CannotServe,
    Embedded,
    Stop,
    children_that_end,
    free_port,
    only_one_here,
)
from tests import ports

#: Answers after a second: a web process on a busy machine.
_SLOW = """
import sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
class Healthy(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(sys.argv[2]))
        self.end_headers()
time.sleep(1)
HTTPServer(("127.0.0.1", int(sys.argv[1])), Healthy).serve_forever()
"""


@pytest.fixture
def children(tmp_path: Path) -> Iterator[Children]:
    with children_that_end(tmp_path) as found:
        yield found


@pytest.fixture
def stop() -> Iterator[Stop]:
    """Nobody asks for a stop; whoever handled signals before does so after."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield Stop()
    for number, handler in before.items():
        signal.signal(number, handler)


def instance(folder: Path, port: int) -> Embedded:
    return Embedded(folder, "127.0.0.1", port, None, web_workers=1, task_workers=1)


def test_a_web_process_that_starts_slowly_is_waited_for_and_told_of(
    children: Children, stop: Stop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    monkeypatch.setattr(supervisor, "PATIENCE", 0.2)
    port = ports.free_port()
    children.start("web", [sys.executable, "-c", _SLOW, str(port), "200"])
    instance(tmp_path, port).await_web(children, stop)

    assert "Still starting after" in capsys.readouterr().err


def test_one_that_listens_everywhere_reaches_itself_though_it_serves_other_names_alone(
    children: Children, stop: Stop, tmp_path: Path
):
    port = ports.free_port()
    children.start("web", [sys.executable, "-c", _SLOW, str(port), "400"])
    everywhere = Embedded(tmp_path, "0.0.0.0", port, None, web_workers=1, task_workers=1)  # noqa: S104
    everywhere.await_web(children, stop)

    assert everywhere.address == f"http://{socket.gethostname()}:{port}/"


def test_a_child_that_ends_at_the_start_is_told_with_its_last_words(
    children: Children, stop: Stop, tmp_path: Path
):
    children.start("web", [sys.executable, "-c", "raise SystemExit('no such setting')"])

    refused = pytest.raises(CannotServe, match=r"web did not start:\s+no such setting")
    with ports.dead_port() as port, refused:
        instance(tmp_path, port).await_web(children, stop)


def test_a_taken_port_moves_on_to_the_next():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        assert free_port("127.0.0.1", port) > port


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid"])
def test_an_address_that_is_not_this_machines_is_told_as_such(host: str):
    with pytest.raises(CannotServe, match=rf"cannot listen at {host}.*AEGIS_HOST"):
        free_port(host, ports.free_port())


@pytest.mark.parametrize("port", [0, -1, 65_535, 80_000])
def test_a_port_that_cannot_be_is_refused(port: int):
    with pytest.raises(CannotServe, match="no port"):
        free_port("127.0.0.1", port)


def test_a_second_instance_on_one_data_folder_is_refused(tmp_path: Path):
    with only_one_here(tmp_path), pytest.raises(CannotServe, match="already runs"):  # noqa: SIM117
        with only_one_here(tmp_path):
            pass


def test_the_data_folder_is_closed_to_other_users(tmp_path: Path):
    folder = tmp_path / "data"

    with only_one_here(folder):
        assert folder.stat().st_mode & 0o077 == 0
