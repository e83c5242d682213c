"""The RAS poller against a server that speaks the protocol, well and badly."""

import threading

import pytest

from diagnosis.sources.errors import SourceError, SourceFailure
from diagnosis.sources.nccl_ras import RasAnswer, RasSettings, poll, poll_first
from diagnosis.sources.retry import Budget
from tests.diagnosis.sources.ras_service import (
    NEW_SERVER,
    OLD_SERVER,
    answer,
    lost,
    rank,
    ras_service,
)
from tests.ports import dead_port

WHOLE = answer(
    ("0xaa", [rank(0, "10.0.0.1", 0, 7), rank(1, "10.0.0.1", 1, 6)], []),
    ("0xbb", [rank(0, "10.0.0.1", 0, 3)], [lost(1, "10.0.0.2", 0, dead=True)]),
    timeouts=1,
)
TEXT = b"NCCL version 2.24.3\nCommunicators... (0.00s)\n=====\n"


def ask(port: int, *, seconds: float = 10.0, **limits: float) -> RasAnswer:
    return poll("127.0.0.1", Budget(seconds), port=port, settings=RasSettings(**limits))  # type: ignore[arg-type]


def test_the_conversation_is_the_protocol_s() -> None:
    with ras_service(WHOLE) as service:
        ask(service.port)
    assert service.commands == [
        "CLIENT PROTOCOL 2",
        "TIMEOUT 5",
        "SET FORMAT json",
        "VERBOSE STATUS",
    ]


def test_a_status_tells_each_rank_s_launches() -> None:
    with ras_service(WHOLE) as service:
        status = ask(service.port).status
    assert [rank.total_launched for rank in status.communicators[0].ranks] == [8, 7]
    assert status.communicators[1].lost[0].dead


def test_a_partial_answer_says_so() -> None:
    with ras_service(WHOLE) as service:
        status = ask(service.port).status
    assert status.notes == (
        "RAS gave up waiting for 1 parts of the job",
        "1 of 4 memberships did not answer",
    )


def test_a_server_without_json_gives_its_text() -> None:
    with ras_service(TEXT, OLD_SERVER) as service:
        got = ask(service.port)
    assert (got.body, got.as_text, got.status.nccl_version) == (TEXT, True, "2.24.3")


@pytest.mark.parametrize(
    ("status", "lines", "failure"),
    [
        (WHOLE[: len(WHOLE) // 2], NEW_SERVER, SourceFailure.GARBAGE),
        (b"", NEW_SERVER, SourceFailure.GARBAGE),
        (b"[]", NEW_SERVER, SourceFailure.GARBAGE),
        (b"ERROR: out of memory\n", OLD_SERVER, SourceFailure.GARBAGE),
        (WHOLE, {"CLIENT PROTOCOL 2": "HTTP/1.1 400 Bad Request\n"}, SourceFailure.GARBAGE),
        (WHOLE, {"CLIENT PROTOCOL 2": "x" * 10_000}, SourceFailure.GARBAGE),
    ],
)
def test_what_is_no_whole_status_is_a_passing_error(
    status: bytes, lines: dict[str, str], failure: SourceFailure
) -> None:
    with ras_service(status, lines) as service, pytest.raises(SourceError) as caught:
        ask(service.port)
    assert (caught.value.failure, caught.value.permanent) == (failure, False)


def test_nobody_listens() -> None:
    with dead_port() as port, pytest.raises(SourceError) as caught:
        ask(port)
    assert (caught.value.failure, caught.value.permanent) == (SourceFailure.UNREACHABLE, False)


def test_a_host_that_has_no_address_is_a_passing_error() -> None:
    with pytest.raises(SourceError) as caught:
        poll("x" * 300, Budget(1))
    assert caught.value.failure is SourceFailure.UNREACHABLE


def test_a_service_that_says_nothing_is_left() -> None:
    left = threading.Event()

    def say_nothing() -> None:
        left.wait()

    with ras_service(WHOLE, before_status=say_nothing) as service:
        try:
            with pytest.raises(SourceError) as caught:
                ask(service.port, answer_timeout=0.3)
        finally:
            left.set()
    assert caught.value.failure is SourceFailure.SLOW


def test_an_endless_answer_is_refused() -> None:
    with ras_service(b"x" * 1_000_000) as service, pytest.raises(SourceError) as caught:
        ask(service.port, longest_answer=100_000)
    assert (caught.value.failure, caught.value.permanent) == (SourceFailure.TOO_LARGE, True)


def test_spent_budget_asks_nobody() -> None:
    with ras_service(WHOLE) as service, pytest.raises(SourceError) as caught:
        poll_first(["127.0.0.1"], Budget(0), port=service.port)
    assert caught.value.failure is SourceFailure.OUT_OF_TIME
    assert service.commands == []


def test_the_first_host_that_answers_is_enough() -> None:
    with ras_service(WHOLE) as service:
        got = poll_first(["::1", "127.0.0.1", "localhost"], Budget(10), port=service.port)
    assert got.host == "127.0.0.1"


def test_no_host_that_answers_is_a_passing_error() -> None:
    with pytest.raises(SourceError, match="no host to ask") as caught:
        poll_first([], Budget(10))
    assert not caught.value.permanent
