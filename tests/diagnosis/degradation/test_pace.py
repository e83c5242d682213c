"""A job's own pace: when it became slower, by how much, and when that ended."""

import numpy as np
import pytest

from diagnosis.degradation.pace import Pace, PaceRule, iteration_times

STEP = 15.0


def followed(*levels: tuple[int, float], noise: float = 0.01, step: float = STEP) -> Pace:
    """A job of so many samples at each level, taken in four at a time."""
    random = np.random.default_rng(3)
    values = np.concatenate([np.full(count, level, np.float64) for count, level in levels])
    values = np.asarray(values * (1 + noise * random.normal(size=len(values))), np.float64)
    time = np.arange(len(values), dtype=np.float64) * step + 1e9
    pace = Pace()
    for first in range(0, len(values), 4):
        PaceRule().follow(pace, time[first : first + 4], values[first : first + 4])
    return pace


def test_a_steady_job_has_no_slowdown():
    assert followed((200, 4.0)).slowdown is None


def test_a_lasting_slowdown_is_dated_and_sized():
    slow = followed((120, 4.0), (40, 5.04)).slowdown

    assert slow is not None
    assert slow.onset == pytest.approx(1e9 + 120 * STEP, abs=2 * STEP)
    assert slow.share == pytest.approx(0.26, rel=0.1)


def test_less_than_a_tenth_is_no_slowdown():
    assert followed((120, 4.0), (60, 4.3)).slowdown is None


def test_one_slow_iteration_is_no_slowdown():
    assert followed((120, 4.0), (1, 60.0), (60, 4.0)).slowdown is None


def test_it_ends_when_the_job_is_back():
    assert followed((120, 4.0), (40, 5.2), (20, 4.0)).slowdown is None


def test_a_slowdown_lasts_however_long_it_takes():
    slow = followed((120, 4.0), (1600, 5.2)).slowdown

    assert slow is not None
    assert slow.before == pytest.approx(4.0, rel=0.02)


def test_a_slowdown_that_ended_hides_no_later_one():
    slow = followed((120, 4.0), (40, 5.2), (120, 4.0), (40, 6.0)).slowdown

    assert slow is not None
    assert slow.share == pytest.approx(0.5, rel=0.1)


def test_steps_that_go_back_at_a_restart_are_left_out():
    time, seconds = iteration_times(
        np.array([0.0, 60.0, 120.0, 180.0]), np.array([10.0, 40.0, 20.0, 35.0])
    )

    assert time.tolist() == [60.0, 180.0]
    assert seconds.tolist() == [2.0, 4.0]
