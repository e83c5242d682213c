"""The window that speed is measured on: 1,000 hosts for an hour, of noise alone."""

import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.simulator.fleet_load import NOMINAL


def large_window(hosts: int = 1000, metrics: int = 25, samples: int = 360) -> MetricWindow:
    """1,000 hosts for an hour, of noise alone."""
    random = np.random.default_rng(0)
    names = tuple(NOMINAL)[:metrics]
    values = np.empty((metrics, hosts, samples), dtype=np.float32)
    for index, nominal in enumerate(list(NOMINAL.values())[:metrics]):
        by_host = nominal.level * np.exp(nominal.spread * random.normal(size=(hosts, 1)))
        noise = 1 + 0.3 * nominal.noise * random.normal(size=(hosts, samples))
        values[index] = np.maximum(by_host * noise, 0)
    host_names = tuple(f"node-{number:04d}" for number in range(hosts))
    time = 1.75e9 + 10.0 * np.arange(samples, dtype=np.float64)
    return MetricWindow(values, names, host_names, time)
