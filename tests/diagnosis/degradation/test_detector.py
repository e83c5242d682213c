"""The robust detector: what it names, what it keeps silent about, and how it streams."""

from dataclasses import replace

import numpy as np
import pytest

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.degradation.answers import Answer, Judgement
from diagnosis.degradation.detector import Detector
from tests.diagnosis.degradation.windows import calm_window, slowed


def judged(window: MetricWindow, placement: Placement | None = None) -> Judgement:
    return Detector().judge(window, placement=placement)


def changed(window: MetricWindow, values: np.ndarray) -> MetricWindow:
    return replace(window, values=values.astype(np.float32))


@pytest.mark.parametrize("hosts", [4, 8, 64])
def test_a_host_six_percent_slower_than_before_is_named(hosts: int) -> None:
    answer = judged(slowed(calm_window(hosts=hosts), 3, at=120, by=0.06))
    assert [suspect.host for suspect in answer.suspects] == ["node-03"]


def test_onset_and_alarm_are_near_the_change() -> None:
    window = slowed(calm_window(), 3, at=120, by=0.2)
    suspect = judged(window).suspects[0]
    assert suspect.alarm_time is not None
    assert abs(suspect.onset - window.time[120]) <= 30
    assert window.time[120] < suspect.alarm_time <= window.time[120] + 90


def test_a_host_that_leaves_while_the_whole_fleet_turns_is_dated_by_the_turn() -> None:
    window = slowed(calm_window(hosts=16), 3, at=120, by=0.2)
    values = window.values.copy()
    values[1] *= np.interp(np.arange(240), [120, 132], [1.0, 0.05])
    suspect = judged(changed(window, values)).suspects[0]
    assert suspect.host == "node-03"
    assert abs(suspect.onset - window.time[120]) <= 60


def stopped_job(ports: int) -> MetricWindow:
    """A job that stands still from a sample on, as one port of a host is down."""
    calm = calm_window(hosts=16, samples=150, interval=15.0, metrics=["net_tx_gbps"])
    traffic = np.where(np.arange(150) < 120, calm.values[0], 0.0)
    state = np.full_like(traffic, 4.0)
    state[5, 120:] = (4 * (ports - 1) + 1) / ports
    return replace(calm, values=np.stack([traffic, state]), metrics=("net_tx_gbps", "port_state"))


@pytest.mark.parametrize("ports", [2, 8])
def test_a_port_that_is_down_names_its_host_though_all_traffic_stopped(ports: int) -> None:
    assert [one.host for one in judged(stopped_job(ports)).suspects] == ["node-05"]


def test_a_port_that_was_never_up_names_nobody() -> None:
    window = stopped_job(8)
    values = window.values.copy()
    values[1, 5] = (4 * 7 + 1) / 8
    assert judged(changed(window, values)).suspects == ()


def test_calm_hosts_that_differ_by_nature_are_healthy() -> None:
    assert judged(calm_window(hosts=64)).answer is Answer.HEALTHY


def test_a_shift_of_the_whole_fleet_is_one_finding_and_names_nobody() -> None:
    window = calm_window(hosts=16)
    values = window.values.copy()
    values[0, :, 120:] *= 0.6
    answer = judged(changed(window, values))
    assert answer.suspects == ()
    assert [(shift.metric, shift.hosts) for shift in answer.fleet_wide] == [("tflops_actual", ())]


def test_hosts_of_one_row_that_shift_together_name_nobody() -> None:
    window = calm_window(hosts=32)
    values = window.values.copy()
    values[0, :6, 120:] *= 0.8
    answer = judged(changed(window, values))
    assert answer.answer is Answer.HEALTHY
    assert set(answer.fleet_wide[0].hosts) == {f"node-{number:02d}" for number in range(6)}


def test_two_bad_hosts_do_not_hide_each_other() -> None:
    window = slowed(slowed(calm_window(hosts=16), 3, at=100, by=0.2), 9, at=150, by=0.2)
    assert {suspect.host for suspect in judged(window).suspects} == {"node-03", "node-09"}


def test_a_lone_spike_is_no_alarm() -> None:
    window = calm_window(hosts=16)
    values = window.values.copy()
    values[:, 4, 130] *= 1000
    assert judged(changed(window, values)).answer is Answer.HEALTHY


def test_bursts_that_come_and_go_are_seen_by_their_sum() -> None:
    window = calm_window(hosts=16, samples=360)
    values = window.values.copy()
    for start in range(150, 360, 10):
        values[2, 4, start : start + 4] += 200
    assert [suspect.host for suspect in judged(changed(window, values)).suspects] == ["node-04"]


def test_a_slow_ramp_is_seen() -> None:
    window = calm_window(hosts=16, samples=360)
    values = window.values.copy()
    values[1, 4, 120:] += np.linspace(0, 15, 240, dtype=np.float32)
    assert [suspect.host for suspect in judged(changed(window, values)).suspects] == ["node-04"]


def test_a_host_that_joins_late_is_not_a_suspect() -> None:
    window = calm_window(hosts=16)
    values = window.values.copy()
    values[:, 4, :100] = np.nan
    assert judged(changed(window, values)).answer is Answer.HEALTHY


def test_a_host_that_falls_silent_is_told_in_the_coverage() -> None:
    window = calm_window(hosts=16)
    values = window.values.copy()
    values[:, 4] = np.nan
    answer = judged(changed(window, values))
    assert answer.coverage.silent_hosts == ("node-04",)


def test_stages_that_react_differently_to_a_stall_name_nobody() -> None:
    window = calm_window(hosts=16)
    values = window.values.copy()
    values[0, :8, 120:] *= 0.7
    places = (RankPlace(rank=i, host=h, stage=i // 8) for i, h in enumerate(window.hosts))
    answer = judged(changed(window, values), Placement.of(places))
    assert answer.answer is Answer.HEALTHY


def test_window_by_window_gives_the_same_names_as_at_once() -> None:
    window = slowed(calm_window(hosts=16), 5, at=150, by=0.2)
    detector = Detector().paced(window)
    past = window.between(window.time[0], window.time[59])
    state, answer = detector.start(past), None
    for first in range(60, 240, 6):
        tick = window.between(window.time[first], window.time[first + 5])
        state, answer = detector.advance(state, tick)
    at_once = Detector().judge(window)
    assert answer is not None
    assert answer.suspects == at_once.suspects


def test_a_state_refuses_a_tick_of_other_metrics() -> None:
    window = calm_window()
    state = Detector().start(window)
    other = replace(window, metrics=("x", "y", "z"))
    with pytest.raises(ValueError, match="other metrics"):
        Detector().advance(state, other)


def test_recovery_is_dated() -> None:
    window = calm_window(hosts=16, samples=360)
    values = window.values.copy()
    values[0, 5, 120:180] *= 0.8
    recovered = judged(changed(window, values)).suspects[0].recovered
    assert recovered is not None
    assert abs(recovered - window.time[180]) <= 60
