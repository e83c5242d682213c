"""What exporters and scrapes do to series, and must not be taken for a fault."""

import numpy as np

from diagnosis.core.metrics import FloatArray, MetricWindow
from diagnosis.degradation.blanks import Blanks
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.detector import Detector

HOSTS = tuple(f"node-{number:02d}" for number in range(32))
GPU = ("gpu_power_w", "gpu_temp_c", "gpu_sm_active", "gpu_tensor_active")


def gauges(seed: int, metrics: int, *, samples: int = 360) -> FloatArray:
    random = np.random.default_rng(seed)
    shape = (metrics, len(HOSTS), samples)
    return (100 * (1 + 0.01 * random.normal(size=shape))).astype(np.float32)


def named(values: FloatArray, metrics: tuple[str, ...], *, step: float = 10.0) -> list[str]:
    time = step * np.arange(values.shape[2], dtype=np.float64)
    suspects = Detector().judge(MetricWindow(values, metrics, HOSTS, time)).suspects
    return [suspect.host for suspect in suspects if suspect.alarm_time is not None]


def test_an_exporter_that_answers_zero_for_everything_twice_names_nobody() -> None:
    values = gauges(1, len(GPU), samples=120)
    values[:, 7, 80:82] = 0.0
    assert named(values, GPU, step=30.0) == []


def test_a_gpu_that_stops_computing_keeps_its_zeros() -> None:
    values = gauges(2, len(GPU))
    values[2:, 7, 200:] = 0.0
    assert named(values, GPU) == ["node-07"]


def test_zeros_are_blank_only_where_a_part_that_cannot_be_zero_is() -> None:
    definitions = [Catalogue.default().definition(name) for name in GPU]
    values = np.array([[0, 300], [0, 50], [0, 0], [0.4, 0]], np.float32)
    cleaned = Blanks.of(definitions)(values)
    assert np.isnan(cleaned).tolist() == [[True, False]] * 3 + [[False, False]]
    assert not np.isnan(values).any()


def test_an_exporter_that_gets_stuck_in_a_stall_of_the_fleet_names_nobody() -> None:
    values = gauges(3, 2)
    values[:, :, 200:208] *= 0.3
    values[:, 7, 205:] = values[:, 7, 205:206]
    assert named(values, ("tflops_actual", "net_tx_gbps")) == []


def test_a_part_that_is_held_at_one_value_is_named() -> None:
    values = gauges(4, 1)
    values[0, 7, 200:] = 70.0
    assert named(values, ("gpu_power_w",)) == ["node-07"]


def test_hosts_that_answer_every_second_time_are_all_learned() -> None:
    values = gauges(5, 1)
    values[:, ::2, ::2] = np.nan
    values[:, 1::2, 1::2] = np.nan
    for host in (6, 7):
        one = values.copy()
        one[:, host, 200:] *= 0.7
        assert named(one, ("tflops_actual",)) == [HOSTS[host]]


def test_the_further_a_host_is_the_sooner_it_is_named() -> None:
    delays = []
    for lost in (0.06, 0.5):
        values = gauges(6, 1)
        values[:, 9, 200:] *= 1 - lost
        time = 10.0 * np.arange(360, dtype=np.float64)
        window = MetricWindow(values, ("tflops_actual",), HOSTS, time)
        alarm = Detector().judge(window).suspects[0].alarm_time
        assert alarm is not None
        delays.append(alarm - 2000)
    assert delays[1] < delays[0]
    assert delays[1] <= 40
