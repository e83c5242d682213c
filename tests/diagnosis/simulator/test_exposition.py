"""A fleet as exporters tell it: what a server reads back is what the window says."""

import numpy as np

from diagnosis.core.metrics import MetricWindow, TimeArray
from diagnosis.simulator.exposition import Exposition

TIME: TimeArray = np.linspace(1.75e9, 1.75e9 + 50, 6)


def lines_of(metric: str, values: list[float]) -> dict[str, list[float]]:
    window = MetricWindow(np.array([[values]], np.float32), (metric,), ("node-0",), TIME)
    found: dict[str, list[float]] = {}
    for line in Exposition().text(window).splitlines():
        if not line.startswith("#"):
            name, value, _ = line.rsplit(" ", 2)
            found.setdefault(name, []).append(float(value))
    return found


def test_a_counter_of_a_host_that_joins_late_is_not_there_before() -> None:
    nan = float("nan")
    (counted,) = lines_of("ctx_switch_k", [nan, nan, nan, 90.0, 90.0, 90.0]).values()
    assert len(counted) == 3
    assert np.allclose(np.diff(counted), [900_000.0, 900_000.0])


def test_a_counter_counts_on_over_a_lost_sample() -> None:
    (counted,) = lines_of("ctx_switch_k", [90.0, 90.0, float("nan"), 90.0, 90.0, 90.0]).values()
    assert np.allclose(np.diff(counted), [9e5, 1.8e6, 9e5, 9e5])


def test_memory_in_use_is_total_less_available() -> None:
    found = lines_of("host_mem_gb", [400.0] * 6)
    total = next(values for name, values in found.items() if "MemTotal" in name)
    available = next(values for name, values in found.items() if "MemAvailable" in name)
    assert np.allclose(np.subtract(total, available) / 1e9, 400.0)


def test_a_busy_cpu_counts_less_idle_time() -> None:
    (counted,) = lines_of("cpu_util", [30.0] * 6).values()
    assert np.allclose(np.diff(counted) / 10.0, 0.7)
