"""Fleets that are rougher than the simulator's: what must not be taken for a fault."""

import numpy as np
import pytest

from benchmarks.rough_faults import ROUGH_FAULTS
from benchmarks.rough_fleets import RoughSettings, rough_case
from diagnosis.core.metrics import FloatArray, MetricWindow
from diagnosis.degradation.detector import Detector
from diagnosis.simulator.fleet import simulate_fleet

SAMPLES = 360


def window_of(values: FloatArray, metric: str) -> MetricWindow:
    """One metric of many hosts, a sample every ten seconds."""
    hosts = tuple(f"node-{number:02d}" for number in range(len(values)))
    return MetricWindow(values[None], (metric,), hosts, 10.0 * np.arange(SAMPLES, dtype=np.float64))


def gauges(seed: int, *, hosts: int = 32, level: float = 400.0) -> FloatArray:
    random = np.random.default_rng(seed)
    return (level * (1 + 0.01 * random.normal(size=(hosts, SAMPLES)))).astype(np.float32)


def named(window: MetricWindow) -> list[str]:
    suspects = Detector().judge(window).suspects
    return [suspect.host for suspect in suspects if suspect.alarm_time is not None]


def test_one_burst_seen_through_a_rate_window_names_nobody() -> None:
    values = np.zeros((32, SAMPLES), np.float32)
    values[7, 200:206] = 12.0
    assert named(window_of(values, "retrans_s")) == []


def test_one_burst_on_top_of_a_trickle_seen_through_a_rate_window_names_nobody() -> None:
    values = np.random.default_rng(6).gamma(0.5, 0.08, size=(32, SAMPLES))
    values[7, 200] = 60.0
    total = np.cumsum(values, axis=1)
    rate = (total - np.pad(total, ((0, 0), (8, 0)))[:, :SAMPLES]) / 8
    assert named(window_of(rate.astype(np.float32), "pcie_replay_s")) == []


def test_bursts_that_go_on_name_their_host() -> None:
    random = np.random.default_rng(1)
    values = np.zeros((32, SAMPLES), np.float32)
    values[7, 200:] = random.uniform(8, 16, size=160)
    assert named(window_of(values, "retrans_s")) == ["node-07"]


def test_a_series_that_stands_still_while_the_fleet_moves_names_nobody() -> None:
    values = gauges(2)
    values[:, 150:] *= 1.15
    values[3] = 0.0
    values[4] = 400.0
    assert named(window_of(values, "tflops_actual")) == []


def test_a_host_that_joins_in_the_middle_of_a_stall_is_learned_after_it() -> None:
    values = gauges(3)
    values[:, 100:112] *= np.random.default_rng(3).uniform(0.3, 0.6, size=(32, 1))
    values[5, :106] = np.nan
    assert named(window_of(values, "tflops_actual")) == []


def test_what_several_hosts_did_for_two_minutes_is_no_fault_of_the_next_one() -> None:
    values = gauges(4, level=20.0)
    for host, start in ((1, 70), (2, 100), (3, 130), (4, 160), (5, 190), (6, 220), (7, 250)):
        values[host, start : start + 13] *= 2.0
    assert named(window_of(values, "cpu_util")) in ([], ["node-01"])


def test_where_a_host_is_named_those_that_came_near_the_bar_are_not_accused() -> None:
    window, truth, placement = rough_case(5, "slow-storage")
    suspects = Detector().judge(window, placement=placement).suspects
    assert [suspect.host for suspect in suspects] == list(truth.hosts)


@pytest.mark.parametrize("fault", ROUGH_FAULTS)
def test_every_fault_of_rough_fleets_puts_its_host_first(fault: str) -> None:
    number = list(ROUGH_FAULTS).index(fault)
    window, truth, placement = rough_case(number, fault)
    suspects = Detector().judge(window, placement=placement).suspects
    assert suspects[0].host == truth.host


def test_two_hosts_that_fail_at_once_are_both_named() -> None:
    window, truth, placement = rough_case(3, "nic-loss", RoughSettings(faulty=2))
    suspects = Detector().judge(window, placement=placement).suspects
    assert {suspect.host for suspect in suspects} == set(truth.hosts)


COMPUTE = ("gpu_sm_active", "gpu_tensor_active", "gpu_clock_mhz", "tflops_actual")


def compute_window(lost: float) -> MetricWindow:
    """Four metrics that tell of computing; one host loses a share of all from sample 200 on."""
    values = np.stack([gauges(20 + row, level=100.0) for row in range(len(COMPUTE))])
    values[:, 9, 200:] *= 1 - lost
    hosts = tuple(f"node-{number:02d}" for number in range(values.shape[1]))
    time = 10.0 * np.arange(SAMPLES, dtype=np.float64)
    return MetricWindow(values, COMPUTE, hosts, time)


def test_a_small_loss_in_all_that_tells_of_computing_names_the_host_by_its_metrics() -> None:
    suspects = Detector().judge(compute_window(0.03)).suspects
    assert [suspect.host for suspect in suspects] == ["node-09"]
    assert {shift.metric for shift in suspects[0].metrics} <= set(COMPUTE)


def test_the_host_that_hangs_is_named_while_the_fleet_stands_still() -> None:
    window, truth, placement = simulate_fleet(1, fault="hang", confounders=[])
    suspects = Detector().judge(window, placement=placement).suspects
    assert [suspect.host for suspect in suspects] == [truth.host]
    assert suspects[0].alarm_time is not None
    assert truth.onset is not None
    assert suspects[0].alarm_time - truth.onset <= 120


@pytest.mark.parametrize(
    ("seed", "confounder"),
    [(250, "fabric-congestion"), (577, "fabric-congestion"), (534, "restart"), (270, "hall-heat")],
)
def test_the_host_that_goes_furthest_in_what_befalls_all_is_not_named(
    seed: int, confounder: str
) -> None:
    window, truth, placement = simulate_fleet(seed)
    assert confounder in truth.confounders
    assert [x for x in Detector().judge(window, placement=placement).suspects if x.alarm_time] == []


def test_memory_that_grows_on_one_host_long_after_a_restart_is_seen() -> None:
    memory = gauges(4, level=400.0)
    memory[:, 100:112] *= 0.3
    memory[:, 112:] *= 1 + 0.01 * np.random.default_rng(5).normal(size=(32, 1))
    memory[9, 220:] *= 1.1

    suspects = Detector().judge(window_of(memory, "host_mem_gb")).suspects

    assert [suspect.host for suspect in suspects] == ["node-09"]
