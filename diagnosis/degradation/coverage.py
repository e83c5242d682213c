"""What a judgement rests on: who answered, and how much of the grid is filled."""

import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.degradation.answers import Coverage


def coverage_of(window: MetricWindow) -> Coverage:
    """Which hosts and metrics answered, and the share of samples that are there."""
    present = np.isfinite(window.values)
    answering = {window.hosts[i] for i in np.flatnonzero(present.any(axis=(0, 2)))}
    return Coverage(
        hosts=len(window.host_names),
        hosts_judged=len(answering),
        metrics=len(window.metrics),
        metrics_judged=int(present.any(axis=(1, 2)).sum()),
        samples_present=float(present.mean()) if present.size else 0.0,
        silent_hosts=tuple(host for host in window.host_names if host not in answering),
    )
