"""Small metric windows that tests share."""

from collections.abc import Sequence

import numpy as np

from diagnosis.core.metrics import MetricWindow

METRICS = ("tflops_actual", "gpu_temp_c", "retrans_s")


def calm_window(
    *,
    hosts: int = 8,
    samples: int = 240,
    seed: int = 1,
    interval: float = 10.0,
    metrics: Sequence[str] = METRICS,
) -> MetricWindow:
    """Hosts that differ by nature and do nothing else, shape (metrics, hosts, samples)."""
    random = np.random.default_rng(seed)
    level = np.array([400.0, 65.0, 0.4])[: len(metrics), None, None]
    by_host = np.exp(0.03 * random.normal(size=(len(metrics), hosts, 1)))
    noise = 1 + 0.01 * random.normal(size=(len(metrics), hosts, samples))
    time = 1_750_000_000.0 + interval * np.arange(samples, dtype=np.float64)
    names = tuple(f"node-{number:02d}" for number in range(hosts))
    values = (level * by_host * noise).astype(np.float32)
    return MetricWindow(values, tuple(metrics), names, time)


def slowed(window: MetricWindow, host: int, *, at: int, by: float) -> MetricWindow:
    """The same window with one host's first metric lower by a share from a sample on."""
    values = window.values.copy()
    values[0, host, at:] *= 1 - by
    return MetricWindow(values, window.metrics, window.hosts, window.time, window.devices)
