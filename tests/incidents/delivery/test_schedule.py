"""When a message is tried again."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.delivery.schedule import DELAYS, LONGEST_WAIT, next_try

NOW = datetime(2026, 11, 30, 6, 20, tzinfo=UTC)
IN_TWO_MINUTES = format_datetime(NOW + timedelta(seconds=120), usegmt=True)


def wait(failures: int, retry_after: str = "") -> float:
    middle = next_try(failures=failures, now=NOW, retry_after=retry_after, uniform=lambda a, b: 1.0)
    return (middle - NOW).total_seconds()


def test_the_wait_grows_and_then_stays():
    waits = [wait(n) for n in range(1, len(DELAYS) + 3)]
    assert waits[: len(DELAYS)] == list(DELAYS)
    assert waits[-1] == DELAYS[-1]


@given(st.integers(1, 500))
def test_the_jitter_is_a_fifth_to_either_side(failures: int):
    middle = DELAYS[min(failures, len(DELAYS)) - 1]
    seconds = (next_try(failures=failures, now=NOW) - NOW).total_seconds()
    assert 0.8 * middle <= seconds <= 1.2 * middle


@pytest.mark.parametrize("said", ["120", IN_TWO_MINUTES])
def test_an_endpoint_may_ask_for_more_time(said: str):
    assert wait(1, said) == 120


def test_an_endpoint_cannot_ask_for_less_time():
    assert wait(6, "1") == DELAYS[5]


@given(st.text(max_size=40) | st.integers(-(10**12), 10**12).map(str))
def test_whatever_is_asked_for_the_wait_has_an_end(said: str):
    assert timedelta(0) < next_try(failures=1, now=NOW, retry_after=said) - NOW <= LONGEST_WAIT
