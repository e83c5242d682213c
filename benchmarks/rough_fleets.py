"""Rough fleets as a metric server tells them: scraped unevenly, with gaps, resets, glitches."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.rough_events import ROUGH_EVENTS
from benchmarks.rough_faults import ROUGH_FAULTS
from benchmarks.rough_load import (
    COUNTERS,
    ROUGH_METRICS,
    Array,
    RoughFleet,
    rough_fleet,
    true_values,
)
from diagnosis.core.metrics import FloatArray, MetricWindow
from diagnosis.core.placement import Placement, RankPlace

START = 1_764_500_000.0


@dataclass(frozen=True, slots=True)
class RoughTruth:
    """What was done to which hosts, since when (seconds), and what else went on."""

    kind: str | None
    hosts: tuple[str, ...]
    onset: float | None
    events: tuple[str, ...]

    @property
    def host(self) -> str | None:
        """The one faulty host; the first where there are several."""
        return self.hosts[0] if self.hosts else None


@dataclass(frozen=True, slots=True)
class RoughSettings:
    """How a fleet is drawn: `hosts`, `span_s`, `faulty` hosts at once, what is told of it.

    `metrics` of the catalogue are told (None: all); `since_before` puts the onset before the
    window; `placed` gives the placement, half of the time where None.
    """

    hosts: int = 64
    span_s: float = 3600.0
    faulty: int = 1
    metrics: Sequence[str] | None = None
    since_before: bool = False
    placed: bool | None = None


def rough_case(
    seed: int, fault: str | None, settings: RoughSettings | None = None
) -> tuple[MetricWindow, RoughTruth, Placement]:
    """One window, its truth, and the placement (empty where nobody tells it)."""
    settings = settings or RoughSettings()
    random = np.random.default_rng([seed, 7919])
    step = float(random.choice([10.0, 10.0, 15.0, 30.0])) if settings.span_s > 1800 else 10.0
    time = START + step * np.arange(int(settings.span_s / step), dtype=np.float64)
    fleet = rough_fleet(random, hosts=settings.hosts, time=time)
    events = _drawn_events(random)
    for event in events:
        ROUGH_EVENTS[event](fleet)
    count = settings.faulty if fault else 0
    faulty = random.choice(settings.hosts, size=count, replace=False).tolist()
    onset = 0.0
    if fault:
        onset = -60.0 if settings.since_before else random.uniform(0.35, 0.65) * settings.span_s
        for host in faulty:
            ROUGH_FAULTS[fault](fleet, host, onset)
    values = true_values(fleet)
    told = tuple(settings.metrics or ROUGH_METRICS)
    seen = np.stack([_scraped(fleet, name, values[name]) for name in told])
    _blemish(fleet, seen, faulty)
    names = tuple(f"gpu{number:03d}" for number in random.permutation(settings.hosts))
    truth = RoughTruth(
        kind=fault,
        hosts=tuple(names[host] for host in faulty),
        onset=START + onset if fault else None,
        events=events,
    )
    placed = settings.placed if settings.placed is not None else random.random() < 0.5
    return MetricWindow(seen, told, names, time), truth, _placement(names, fleet, placed)


def _drawn_events(random: np.random.Generator) -> tuple[str, ...]:
    count = int(random.choice([0, 1, 1, 2, 2, 3]))
    return tuple(sorted(random.choice(list(ROUGH_EVENTS), size=count, replace=False).tolist()))


def _scraped(fleet: RoughFleet, metric: str, true: Array) -> FloatArray:
    """The metric as it is scraped: every so often, at each host's own moment, and held."""
    random = fleet.random
    every = int(random.choice([1, 1, 1, 2, 3]))
    if metric in COUNTERS:
        true = _smoothed_rate(true, max(every, int(random.choice([1, 2, 6]))))
    seen = true.astype(np.float32)
    if every > 1:
        phase = random.integers(0, every, size=(fleet.hosts, 1))
        at = np.arange(true.shape[1])[None] - (np.arange(true.shape[1])[None] + phase) % every
        seen = np.take_along_axis(seen, np.maximum(at, 0), axis=1)
    return seen


def _smoothed_rate(rate: Array, width: int) -> Array:
    """A rate over the last `width` samples, as `rate(x[w])` gives it."""
    total = np.cumsum(rate, axis=1)
    before = np.concatenate([np.zeros((len(rate), width)), total[:, :-width]], axis=1)
    share = np.minimum(np.arange(1, rate.shape[1] + 1), width)
    return np.asarray((total - before) / share)


def _blemish(fleet: RoughFleet, seen: FloatArray, faulty: Sequence[int]) -> None:
    """Missing samples, outages, resets, stuck and late series, in place."""
    random, (metrics, hosts, samples) = fleet.random, seen.shape
    spared = [host for host in range(hosts) if host not in faulty]
    seen[random.random(seen.shape, dtype=np.float32) < random.uniform(0, 0.03)] = np.nan
    for _ in range(random.poisson(hosts / 20)):
        first = random.integers(samples)
        seen[:, random.choice(spared), first : first + random.integers(3, 40)] = np.nan
    if random.random() < 0.15:
        first = random.integers(samples)
        seen[:, :, first : first + random.integers(1, 8)] = np.nan
    for _ in range(random.poisson(hosts / 8)):
        cell = random.integers(metrics), random.integers(hosts), random.integers(samples)
        seen[cell] *= random.choice([0.0, 0.1, 10.0, 50.0])
    for _ in range(random.poisson(0.7)):
        stuck = random.integers(metrics), random.choice(spared)
        seen[stuck] = random.choice([0.0, float(np.nan_to_num(seen[stuck][0]))])
    if random.random() < 0.4 and hosts > 4:
        late = random.choice(spared)
        seen[:, late, : int(random.uniform(0.05, 0.6) * samples)] = np.nan
    if random.random() < 0.15 and hosts > 4:
        seen[:, random.choice(spared), int(random.uniform(0.4, 0.9) * samples) :] = np.nan


def _placement(names: Sequence[str], fleet: RoughFleet, placed: bool) -> Placement:
    """Rank 0 runs on the first host; names are no help, since they are shuffled."""
    if not placed:
        return Placement.of([])
    return Placement.of(
        RankPlace(rank=8 * host + local, host=name, local_rank=local, stage=int(fleet.stage[host]))
        for host, name in enumerate(names)
        for local in range(8)
    )
