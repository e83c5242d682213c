"""Every bad day of a metric server is shown as what it is, and only passing ones are retried."""

import gzip
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diagnosis.sources.answers import RangeAnswer
from diagnosis.sources.connection import Connection
from diagnosis.sources.errors import SourceError, SourceFailure
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.prometheus import Prometheus
from diagnosis.sources.retry import Budget, RetryPolicy
from tests.diagnosis.sources.conftest import QUICK
from tests.diagnosis.sources.fake_server import (
    Behaviour,
    answers,
    breaks_off,
    fake_server,
    in_turn,
    matrix,
)
from tests.ports import dead_port
from tests.services import needed

GRID = TimeGrid(start=0.0, step=60.0, samples=3)
ONE = matrix(({"instance": "a"}, [[0, "1"], [60, "2"], [120, "3"]]))
BAD_DATA = '{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution"}'
TIMEOUT = '{"status":"error","errorType":"timeout","error":"query timed out"}'


def ask(url: str, *, seconds: float = 10.0, **settings: Any) -> RangeAnswer:
    with Prometheus(Connection(url, **settings), QUICK) as source:
        return source.query_range("up", GRID, Budget(seconds))


def error_of(behaviour: Behaviour, **settings: Any) -> tuple[SourceError, int]:
    """The error that a server of this behaviour causes, and how often it was asked."""
    with fake_server(behaviour) as server, pytest.raises(SourceError) as caught:
        ask(server.url, **settings)
    return caught.value, len(server.asked)


@pytest.mark.parametrize(
    ("status", "body", "failure", "permanent"),
    [
        (400, BAD_DATA, SourceFailure.REJECTED, True),
        (401, "Unauthorized", SourceFailure.FORBIDDEN, True),
        (403, "", SourceFailure.FORBIDDEN, True),
        (404, "404 page not found", SourceFailure.WRONG_ADDRESS, True),
        (422, BAD_DATA, SourceFailure.REJECTED, True),
        (302, "", SourceFailure.WRONG_ADDRESS, True),
        (408, "", SourceFailure.SLOW, False),
        (429, "slow down", SourceFailure.OVERLOADED, False),
        (500, "<html>oops</html>", SourceFailure.SERVER_ERROR, False),
        (502, "Bad Gateway", SourceFailure.SERVER_ERROR, False),
        (503, TIMEOUT, SourceFailure.OVERLOADED, False),
        (504, "", SourceFailure.SLOW, False),
        (200, "", SourceFailure.GARBAGE, False),
        (200, "<html>Please log in</html>", SourceFailure.GARBAGE, False),
        (200, "[1, 2]", SourceFailure.GARBAGE, False),
        (200, ONE[: len(ONE) // 2], SourceFailure.GARBAGE, False),
        (200, '{"status":"success"}', SourceFailure.GARBAGE, False),
        (200, '{"status":"success","data":{"resultType":"scalar"}}', SourceFailure.GARBAGE, False),
        (200, matrix(({}, [[0, "one"]])), SourceFailure.GARBAGE, False),
        (200, matrix(({}, [["x"]])), SourceFailure.GARBAGE, False),
        (200, matrix(({}, [[None, "1"]])), SourceFailure.GARBAGE, False),
        (200, TIMEOUT, SourceFailure.SLOW, False),
        (200, BAD_DATA, SourceFailure.REJECTED, True),
    ],
)
def test_each_bad_answer_is_its_own_error(
    status: int, body: str, failure: SourceFailure, permanent: bool
) -> None:
    error, asked = error_of(answers(status, body))
    assert (error.failure, error.permanent) == (failure, permanent)
    assert asked == (1 if permanent else QUICK.attempts)


def test_the_server_s_own_words_are_shown() -> None:
    error, _ = error_of(answers(400, BAD_DATA))
    assert str(error) == "HTTP 400, bad_data: exceeded maximum resolution"


def test_nobody_listens() -> None:
    with dead_port() as port, pytest.raises(SourceError) as caught:
        ask(f"http://127.0.0.1:{port}")
    assert (caught.value.failure, caught.value.permanent) == (SourceFailure.UNREACHABLE, False)


def test_half_an_answer_is_no_answer() -> None:
    error, _ = error_of(breaks_off(ONE.encode()[:40], promised=len(ONE)))
    assert (error.failure, error.permanent) == (SourceFailure.UNREACHABLE, False)


def test_broken_compression_is_garbage() -> None:
    error, _ = error_of(answers(200, b"not gzip at all", Content_Encoding="gzip"))
    assert error.failure is SourceFailure.GARBAGE


def test_a_huge_answer_is_refused_and_not_asked_again() -> None:
    error, asked = error_of(answers(200, " " * 100_000 + ONE), longest_answer=50_000)
    assert (error.failure, error.permanent, asked) == (SourceFailure.TOO_LARGE, True, 1)


def test_an_answer_that_grows_on_unpacking_is_refused() -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    error, _ = error_of(answers(200, bomb, Content_Encoding="gzip"), longest_answer=1_000_000)
    assert len(bomb) < 1_000_000
    assert error.failure is SourceFailure.TOO_LARGE


def test_a_silent_server_is_left_when_the_budget_is_spent() -> None:
    left = threading.Event()

    def silent(_: BaseHTTPRequestHandler, __: dict[str, str]) -> None:
        left.wait()

    with fake_server(silent) as server:
        try:
            with pytest.raises(SourceError) as caught:
                ask(server.url, seconds=0.4)
        finally:
            left.set()
    assert caught.value.failure is SourceFailure.SLOW


def test_an_answer_that_trickles_is_left_when_its_time_is_over() -> None:
    def trickle(handler: BaseHTTPRequestHandler, _: dict[str, str]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.close_connection = True
        for _step in range(600):
            try:
                handler.wfile.write(b" ")
                time.sleep(0.05)
            except OSError:
                return

    with fake_server(trickle) as server, pytest.raises(SourceError) as caught:
        ask(server.url, seconds=0.4, answer_timeout=0.3)
    assert caught.value.failure is SourceFailure.SLOW


def test_a_server_that_recovers_is_asked_again() -> None:
    with fake_server(in_turn(answers(503, ""), answers(200, "{"), answers(200, ONE))) as server:
        answer = ask(server.url)
    assert answer.series[0].values.tolist() == [1.0, 2.0, 3.0]
    assert len(server.asked) == 3


def test_the_server_s_wish_for_a_pause_is_kept() -> None:
    waits: list[float] = []
    policy = RetryPolicy(attempts=2, sleep=waits.append)
    refusing = in_turn(answers(429, "", Retry_After="7"), answers(200, ONE))
    with fake_server(refusing) as server, Prometheus(Connection(server.url), policy) as source:
        source.query_range("up", GRID, Budget(30))
    assert waits == [7.0]


def test_a_pause_longer_than_the_budget_is_not_waited_for() -> None:
    waits: list[float] = []
    policy = RetryPolicy(sleep=waits.append)
    refusing = answers(503, "", Retry_After="600")
    with (
        fake_server(refusing) as server,
        Prometheus(Connection(server.url), policy) as source,
        pytest.raises(SourceError),
    ):
        source.query_range("up", GRID, Budget(30))
    assert (waits, len(server.asked)) == ([], 1)


def test_values_that_are_no_numbers_are_missing() -> None:
    odd = matrix(({}, [[0, "NaN"], [60, "+Inf"], [120, "-Inf"]]))
    with fake_server(answers(200, odd)) as server:
        assert np.isnan(ask(server.url).series[0].values).all()


def test_warnings_and_infos_are_surfaced() -> None:
    partial = matrix(warnings=["a store did not answer"], infos=["metric might not be a counter"])
    with fake_server(answers(200, partial)) as server:
        notes = ask(server.url).notes
    assert notes == ("a store did not answer", "metric might not be a counter")


def test_samples_outside_of_the_window_are_dropped() -> None:
    beyond = matrix(({}, [[-600, "1"], [60, "2"], [9e15, "3"]]))
    with fake_server(answers(200, beyond)) as server:
        values = ask(server.url).series[0].values
    assert np.array_equal(values, [np.nan, 2.0, np.nan], equal_nan=True)


def test_a_bearer_token_is_sent() -> None:
    with fake_server(answers(200, ONE)) as server:
        ask(server.url, bearer_token="t0ken")
    assert server.authorizations == ["Bearer t0ken"]


def test_name_and_password_are_sent() -> None:
    with fake_server(answers(200, ONE)) as server:
        ask(server.url, username="aegis", password="pass")
    assert server.authorizations == ["Basic YWVnaXM6cGFzcw=="]


def test_a_credential_that_no_header_can_carry_is_permanent() -> None:
    error, asked = error_of(answers(200, ONE), bearer_token="line\nbreak")
    assert (error.permanent, asked) == (True, 0)
    assert "break" not in str(error)


def test_secrets_are_in_no_text() -> None:
    connection = Connection("http://h", bearer_token="t0ken", password="pass")
    assert "t0ken" not in repr(connection)
    assert "pass" not in repr(connection).replace("password", "")


@pytest.mark.parametrize(
    "url",
    ["", "prometheus:9090", "ftp://host", "http://", "http://user:secret@host", "http://h:port"],
)
def test_an_unusable_address_is_permanent(url: str) -> None:
    with pytest.raises(SourceError) as caught:
        Connection(url).open()
    assert (caught.value.failure, caught.value.permanent) == (SourceFailure.WRONG_ADDRESS, True)
    assert "secret" not in str(caught.value)


def test_a_path_before_the_api_is_kept() -> None:
    paths: list[str] = []

    def remember(handler: BaseHTTPRequestHandler, form: dict[str, str]) -> None:
        paths.append(handler.path)
        answers(200, ONE)(handler, form)

    with fake_server(remember) as server:
        ask(f"{server.url}/prometheus/")
    assert paths == ["/prometheus/api/v1/query_range"]


@contextmanager
def certificate(folder: Path) -> Iterator[tuple[Path, Path]]:
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = [needed("openssl", "openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes"]
    command += ["-keyout", str(key), "-out", str(cert), "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    yield key, cert


def test_an_unknown_certificate_is_permanent_and_its_authority_can_be_named(
    tmp_path: Path,
) -> None:
    with certificate(tmp_path) as (key, cert):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        with fake_server(answers(200, ONE), tls=context) as server:
            with pytest.raises(SourceError) as caught:
                ask(server.url)
            trusted = ask(server.url, ca_file=cert)
            unverified = ask(server.url, verify_tls=False)
    assert (caught.value.failure, caught.value.permanent) == (SourceFailure.TLS, True)
    assert len(trusted.series) == len(unverified.series) == 1


def test_a_missing_authority_file_is_permanent(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        Connection("https://h", ca_file=tmp_path / "none.pem").open()
    assert (caught.value.failure, caught.value.permanent) == (SourceFailure.TLS, True)
