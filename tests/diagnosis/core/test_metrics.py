"""Metric windows keep their axes together."""

import numpy as np
import pytest

from diagnosis.core.metrics import MetricWindow, without_blanks


def a_window(samples: int = 4) -> MetricWindow:
    values = np.arange(2 * 3 * samples, dtype=np.float32).reshape(2, 3, samples)
    time = np.arange(samples, dtype=np.float64) * 10
    return MetricWindow(values, ("a", "b"), ("n1", "n2", "n3"), time)


def test_names_that_do_not_fit_the_values_are_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        MetricWindow(
            np.zeros((1, 3, 4), np.float32), ("a", "b"), ("n1", "n2", "n3"), np.arange(4.0)
        )


def test_times_that_do_not_ascend_are_refused() -> None:
    with pytest.raises(ValueError, match="ascend"):
        MetricWindow(np.zeros((1, 1, 2), np.float32), ("a",), ("n1",), np.array([1.0, 1.0]))


def test_between_takes_both_ends() -> None:
    assert a_window(6).between(10.0, 30.0).time.tolist() == [10.0, 20.0, 30.0]


def test_exporters_blanks_and_infinities_are_missing_samples() -> None:
    cleaned = without_blanks([1.0, 9223372036854775794.0, float("inf"), float("nan")])
    assert np.isnan(cleaned).tolist() == [False, True, True, True]
