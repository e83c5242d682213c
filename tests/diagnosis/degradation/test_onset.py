"""Onset of slow iterations."""

import numpy as np
import pytest

from diagnosis.degradation.onset import find_onset

TIME = np.arange(360, dtype=np.float64) * 10


def iterations(seed: int = 0) -> np.ndarray:
    return 4.2 * (1 + 0.02 * np.random.default_rng(seed).normal(size=360))


@pytest.mark.parametrize("slowdown", [0.12, 0.26, 1.0])
def test_a_lasting_slowdown_is_dated_and_sized(slowdown: float) -> None:
    values = iterations()
    values[200:] *= 1 + slowdown
    onset = find_onset(TIME, values)
    assert onset is not None
    assert abs(onset.time - TIME[200]) <= 60
    assert onset.slowdown == pytest.approx(slowdown, abs=0.1 * slowdown + 0.01)
    assert onset.end is None


def test_less_than_a_tenth_is_no_slowdown() -> None:
    values = iterations()
    values[200:] *= 1.06
    assert find_onset(TIME, values) is None


def test_a_checkpoint_and_a_lone_slow_iteration_are_no_slowdown() -> None:
    values = iterations()
    values[50] *= 8
    values[120:132] *= 3
    assert find_onset(TIME, values) is None


def test_recovery_ends_the_slowdown() -> None:
    values = iterations()
    values[200:260] *= 1.26
    onset = find_onset(TIME, values)
    assert onset is not None
    assert onset.end == pytest.approx(TIME[260], abs=60)


def test_missing_iterations_are_left_out() -> None:
    values = iterations()
    values[200:] *= 1.3
    values[::7] = np.nan
    onset = find_onset(TIME, values)
    assert onset is not None
    assert abs(onset.time - TIME[200]) <= 60


def test_too_few_iterations_say_nothing() -> None:
    assert find_onset(TIME[:5], iterations()[:5]) is None
