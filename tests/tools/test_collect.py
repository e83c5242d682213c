"""`tools/collect`, against a server that keeps what it is sent."""

import json
import os
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from urllib.parse import parse_qs, urlsplit

import pytest

PROGRAM = Path(__file__).parents[2] / "tools" / "collect"


class Keeping(HTTPServer):
    """Answers every call, or refuses with `status`; `calls` are (path, query, body)."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls: list[tuple[str, dict[str, list[str]], bytes]] = []
        self.status = 200

    def sent(self, part: str) -> list[tuple[str, dict[str, list[str]], bytes]]:
        return [call for call in self.calls if part in call[0]]


class Handler(BaseHTTPRequestHandler):
    server: Keeping

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        split = urlsplit(self.path)
        if self.server.status == 200:
            self.server.calls.append((split.path, parse_qs(split.query), body))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(b'{"id": 9}')

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[Keeping]:
    with Keeping() as keeping:
        thread = threading.Thread(target=keeping.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield keeping
        keeping.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def collect() -> ModuleType:
    loader = SourceFileLoader("aegis_collect", str(PROGRAM))
    spec = spec_from_loader("aegis_collect", loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def node(collect: ModuleType, server: Keeping, folder: Path):
    options = collect.parse([
        "--url", f"http://127.0.0.1:{server.server_port}", "--attempt", "4", "--host", "node-1",
        "--logs", f"{folder}/rank-*.log", "--dumps", f"{folder}/comm_lib_trace_rank_*",
        "--state", f"{folder}/state", "--every", "0.01", "--since", str(time.time() - 60),
    ])  # fmt: skip
    return collect.Node(options, collect.Aegis(options.url, "token", 4))


def settled_dump(folder: Path, rank: int, content: bytes = b"dump") -> None:
    path = folder / f"comm_lib_trace_rank_{rank}"
    path.write_bytes(content)
    os.utime(path, (time.time() - 10, time.time() - 10))


def test_the_steps_that_logs_tell_of_are_reported_by_rank(collect, server, tmp_path):
    (tmp_path / "rank-3.log").write_text("iteration 41/100 | loss 2.1\niteration 42/100 | loss 2\n")
    node(collect, server, tmp_path).tick()
    ((path, _, body),) = server.sent("progress")
    assert path == "/api/v1/attempts/4/progress"
    assert json.loads(body)["reports"] == [{"rank": 3, "step": 42}]


def test_only_what_was_added_to_a_log_is_read_again(collect, server, tmp_path):
    log = tmp_path / "rank-0.log"
    log.write_text("step: 1\n")
    one = node(collect, server, tmp_path)
    one.tick()
    with log.open("a") as stream:
        stream.write("step: 2\n")
    one.tick()
    steps = [json.loads(body)["reports"][0]["step"] for _, _, body in server.sent("progress")]
    assert steps == [1, 2]


def test_a_dump_opens_one_incident_and_is_handed_in_with_the_logs(collect, server, tmp_path):
    (tmp_path / "rank-0.log").write_text("nothing told\n")
    settled_dump(tmp_path, 0)
    settled_dump(tmp_path, 1)
    node(collect, server, tmp_path).tick()
    names = [query["name"][0] for _, query, _ in server.sent("/evidence")]
    assert names == ["rank-0.log", "comm_lib_trace_rank_0", "comm_lib_trace_rank_1"]
    opened = [body for path, _, body in server.calls if path == "/api/v1/incidents"]
    assert [json.loads(body)["dedup_key"] for body in opened] == ["collect-4"]


def test_evidence_carries_its_host_and_rank(collect, server, tmp_path):
    settled_dump(tmp_path, 5)
    node(collect, server, tmp_path).tick()
    query = server.sent("/evidence")[0][1]
    assert (query["host"], query["rank"]) == (["node-1"], ["5"])


def test_nothing_is_handed_in_twice_even_by_a_restarted_collector(collect, server, tmp_path):
    settled_dump(tmp_path, 0)
    node(collect, server, tmp_path).tick()
    node(collect, server, tmp_path).tick()
    assert len(server.sent("/evidence")) == 1


def test_a_dump_that_is_still_being_written_waits(collect, server, tmp_path, monkeypatch):
    monkeypatch.setattr(collect, "SETTLED_S", 60.0)
    (tmp_path / "comm_lib_trace_rank_0").write_bytes(b"half")
    node(collect, server, tmp_path).tick()
    assert not server.sent("/evidence")


def test_what_could_not_be_sent_is_sent_once_the_server_is_back(collect, server, tmp_path):
    settled_dump(tmp_path, 0)
    one = node(collect, server, tmp_path)
    server.status = 503
    one.tick()
    server.status = 200
    time.sleep(0.05)
    one.tick()
    assert len(server.sent("/evidence")) == 1


def test_groups_are_named_by_the_recorders_entries(collect):
    status = {"last_enqueued_collective": "12", "last_started_collective": "-1",
              "last_completed_collective": "11"}  # fmt: skip
    dump = {"pg_status": {"0": status, "7": status},
            "entries": [{"pg_id": 0, "process_group": ["2", "TP"]}]}  # fmt: skip
    assert collect.comms_of(dump) == [{"comm": "2", "enqueued": 12, "completed": 11}]


def test_without_an_address_it_says_what_is_missing(collect, capsys):
    with pytest.raises(SystemExit):
        collect.parse(["--attempt", "4"])
    assert "AEGIS_URL" in capsys.readouterr().err
