"""Seeded metric fleets: a window as a source would give it, and the truth about it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.simulator.fleet_confounders import CONFOUNDERS
from diagnosis.simulator.fleet_faults import FAULTS
from diagnosis.simulator.fleet_load import METRICS, Fleet, healthy_fleet

START = 1_750_000_000.0
GPUS_PER_HOST = 8


@dataclass(frozen=True, slots=True)
class FleetTruth:
    """What was done to a fleet: the faulty host and the onset in seconds, None when healthy."""

    kind: str | None
    host: str | None
    onset: float | None
    confounders: tuple[str, ...]


def simulate_fleet(
    seed: int,
    *,
    fault: str | None = None,
    confounders: Sequence[str] | None = None,
    hosts: int = 64,
    samples: int = 360,
    interval: float = 10.0,
    untidy: bool = True,
) -> tuple[MetricWindow, FleetTruth, Placement]:
    """One fleet of a running job, shape (26 metrics, hosts, samples), `interval` seconds apart.

    `fault` and `confounders` are keys of `FAULTS` and `CONFOUNDERS` (`KeyError` otherwise);
    without a list of confounders up to two are drawn. The fault begins between a third and two
    thirds of the window, on a host drawn at random.
    """
    random = np.random.default_rng(seed)
    fleet = healthy_fleet(random, hosts=hosts, samples=samples, interval=interval, start=START)
    if confounders is None:
        drawn = random.choice(list(CONFOUNDERS), size=random.integers(0, 3), replace=False)
        confounders = sorted(str(name) for name in drawn)
    for name in sorted(confounders, key=lambda item: item == "quiet"):
        CONFOUNDERS[name](fleet)
    names = tuple(f"node-{number:03d}" for number in range(hosts))
    host = onset = None
    if fault is not None:
        host, onset = int(random.integers(hosts)), int(samples * random.uniform(0.33, 0.67))
        FAULTS[fault](fleet, host, onset)
    _keep_possible(fleet)
    if untidy:
        _make_untidy(fleet, spared=host)
    truth = FleetTruth(
        kind=fault,
        host=None if host is None else names[host],
        onset=None if onset is None else float(fleet.time[onset]),
        confounders=tuple(confounders),
    )
    window = MetricWindow(fleet.values, METRICS, names, fleet.time)
    return window, truth, fleet_placement(names, fleet.stage)


def _keep_possible(fleet: Fleet) -> None:
    np.maximum(fleet.values, 0.0, out=fleet.values)
    for metric, most in (("gpu_util", 100.0), ("gpu_sm_active", 1.0), ("cpu_util", 100.0)):
        np.minimum(fleet.of(metric), most, out=fleet.of(metric))


def _make_untidy(fleet: Fleet, *, spared: int | None) -> None:
    """Lost samples, gaps, spikes of counter resets, series that never change, late joiners."""
    random, samples = fleet.random, len(fleet.time)
    fleet.values[random.random(fleet.values.shape, dtype=np.float32) < 0.01] = np.nan
    for _ in range(max(1, fleet.hosts // 16)):
        first = int(random.integers(samples))
        gap = slice(first, first + int(random.integers(2, 20)))
        fleet.values[:, random.integers(fleet.hosts), gap] = np.nan
    for _ in range(max(1, fleet.hosts // 8)):
        at = (random.integers(len(METRICS)), random.integers(fleet.hosts), random.integers(samples))
        fleet.values[at] *= random.choice([0.0, 30.0])
    constant, stuck = random.integers(len(METRICS)), int(random.integers(fleet.hosts))
    if stuck != spared:
        fleet.of(METRICS[constant])[stuck] = 0.0
    late = int(random.integers(fleet.hosts))
    if late != spared and fleet.hosts > 4:
        fleet.values[:, late, : int(samples * random.uniform(0.05, 0.3))] = np.nan


def fleet_placement(names: Sequence[str], stage: np.ndarray) -> Placement:
    return Placement.of(
        RankPlace(
            rank=host * GPUS_PER_HOST + local,
            host=name,
            local_rank=local,
            gpu=local,
            stage=int(stage[host]),
        )
        for host, name in enumerate(names)
        for local in range(GPUS_PER_HOST)
    )
