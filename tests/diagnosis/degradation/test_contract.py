"""What every detector keeps to, whatever it is given."""

from dataclasses import replace

import numpy as np
import pytest

from diagnosis.core.metrics import MetricWindow
from diagnosis.degradation.answers import Answer
from diagnosis.degradation.detectors import DETECTORS, WindowJudge
from tests.diagnosis.degradation.windows import calm_window, slowed

pytestmark = pytest.mark.parametrize("judge", DETECTORS.values(), ids=list(DETECTORS))


def named(judge: WindowJudge, window: MetricWindow) -> set[str]:
    suspects = judge.judge(window).suspects
    return {suspect.host for suspect in suspects if suspect.alarm_time is not None}


def empty(window: MetricWindow) -> MetricWindow:
    return replace(window, values=window.values[:, :, :0], time=window.time[:0])


def test_a_window_without_samples_cannot_be_judged(judge: WindowJudge) -> None:
    answer = judge.judge(empty(calm_window()))
    assert answer.answer is Answer.CANNOT_TELL
    assert answer.reason


def test_a_window_of_missing_samples_cannot_be_judged(judge: WindowJudge) -> None:
    window = calm_window()
    nothing = replace(window, values=np.full_like(window.values, np.nan))
    assert judge.judge(nothing).answer is Answer.CANNOT_TELL


def test_a_short_window_cannot_be_judged(judge: WindowJudge) -> None:
    window = calm_window(samples=5)
    assert judge.judge(window).answer is Answer.CANNOT_TELL


def test_two_hosts_are_too_few_to_compare(judge: WindowJudge) -> None:
    assert judge.judge(calm_window(hosts=2)).answer is Answer.CANNOT_TELL


def test_a_constant_window_is_healthy(judge: WindowJudge) -> None:
    window = calm_window()
    same = replace(window, values=np.full_like(window.values, 7.0))
    assert judge.judge(same).answer is Answer.HEALTHY


def test_a_large_lasting_change_of_one_host_is_named(judge: WindowJudge) -> None:
    window = slowed(calm_window(hosts=16), 5, at=120, by=0.4)
    assert "node-05" in named(judge, window)


def test_the_order_of_hosts_does_not_matter(judge: WindowJudge) -> None:
    window = slowed(calm_window(hosts=16), 5, at=120, by=0.4)
    order = np.random.default_rng(3).permutation(16)
    shuffled = replace(
        window, values=window.values[:, order], hosts=tuple(window.hosts[i] for i in order)
    )
    assert named(judge, shuffled) == named(judge, window)


def test_the_order_of_metrics_does_not_matter(judge: WindowJudge) -> None:
    window = slowed(calm_window(hosts=16), 5, at=120, by=0.4)
    turned = replace(window, values=window.values[::-1].copy(), metrics=window.metrics[::-1])
    assert named(judge, turned) == named(judge, window)


def test_the_unit_of_a_gauge_does_not_matter(judge: WindowJudge) -> None:
    window = slowed(calm_window(hosts=16), 5, at=120, by=0.4)
    values = window.values.copy()
    values[0] *= 1e3
    assert named(judge, replace(window, values=values)) == named(judge, window)


def test_missing_samples_name_nobody_new(judge: WindowJudge) -> None:
    window = slowed(calm_window(hosts=16), 5, at=60, by=0.5)
    values = window.values.copy()
    values[np.random.default_rng(4).random(values.shape) < 0.01] = np.nan
    assert named(judge, replace(window, values=values)) <= named(judge, window)


def test_the_window_that_was_handed_in_stays_as_it_was(judge: WindowJudge) -> None:
    window = slowed(calm_window(), 2, at=120, by=0.4)
    before = window.values.copy()
    judge.judge(window)
    assert np.array_equal(window.values, before)
