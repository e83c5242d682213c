"""What a judgement rests on: who answered, and how much of the grid is filled."""

import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.degradation.answers import Coverage


def full_coverage(window: MetricWindow) -> Coverage:
    """That of a window without a gap."""
    hosts, metrics = len(window.host_names), len(window.metrics)
    return Coverage(hosts, hosts, metrics, metrics, samples_present=1.0)


def coverage_of(window: MetricWindow) -> Coverage:
    """Which hosts and metrics answered, and the share of samples that are there."""
    if window.values.size and bool(np.isfinite(window.values.sum())):
        return full_coverage(window)
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


def too_few_hosts(answering: int, needed: int) -> str:
    """Why so many answering hosts cannot be told apart; empty where they are enough as peers."""
    if answering == 0:
        return "no host answered: there is not one sample"
    if answering < needed:
        return f"{answering} hosts answered; at least {needed} are needed as peers"
    return ""
