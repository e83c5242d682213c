"""Children of the embedded set-up, with real processes."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aegis_web.embedded.processes import RESTARTS, Child, Children

SLEEPS = [sys.executable, "-c", "import time; time.sleep(60)"]
ENDS = [sys.executable, "-c", "print('what went wrong')"]


@pytest.fixture
def children(tmp_path: Path) -> Iterator[Children]:
    found = Children(tmp_path)
    yield found
    found.stop()


def wait_for_end(child: Child) -> None:
    child.process.wait(timeout=60)


def test_a_child_that_ends_by_itself_is_told_with_its_last_words(children: Children):
    child = children.start("short", ENDS)
    wait_for_end(child)

    assert children.ended() == [child]
    assert children.last_words(child) == "what went wrong"


def test_last_words_are_those_since_the_last_start(children: Children):
    child = children.start("short", ENDS)
    wait_for_end(child)
    children.start_again(child)
    wait_for_end(child)

    assert children.last_words(child) == "what went wrong"


def test_a_child_started_again_runs_again(children: Children):
    child = children.start("killed", SLEEPS)
    child.process.kill()
    wait_for_end(child)

    children.start_again(child)

    assert child.process.poll() is None


def test_a_child_that_keeps_ending_is_given_up(children: Children):
    child = children.start("short", SLEEPS)

    child.restarted_at = [time.monotonic()] * (RESTARTS + 1)

    assert child.restarts_too_often


def test_stopping_ends_every_child(children: Children):
    processes = [children.start(name, SLEEPS).process for name in ("one", "two")]

    children.stop()

    assert all(process.poll() is not None for process in processes)
