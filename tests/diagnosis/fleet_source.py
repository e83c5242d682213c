"""A metric source for load: every host answers at once, healthy, without a network."""

from collections.abc import Iterable, Sequence

import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.models import MetricSource
from diagnosis.simulator.fleet_load import METRICS, healthy_fleet
from diagnosis.sources.coverage import Coverage, MetricCoverage, MetricState
from diagnosis.sources.gather import Gathered
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.queries import MetricQuery


class FleetSource:
    """Answers from one healthy fleet of `hosts`, over and over; `disturb` may change the values."""

    def __init__(self, hosts: int, *, samples: int = 400, interval: float = 15.0) -> None:
        random = np.random.default_rng(5)
        fleet = healthy_fleet(random, hosts=hosts, samples=samples, interval=interval, start=0.0)
        self.values, self.samples, self.interval = fleet.values, samples, interval
        self.asked = 0

    def __call__(
        self,
        source: MetricSource,
        queries: Sequence[MetricQuery],
        hosts: Iterable[str],
        grid: TimeGrid,
        *,
        by_host: bool,
    ) -> Gathered:
        self.asked += 1
        named = tuple(hosts)
        metrics = tuple(query.metric for query in queries if query.metric in METRICS)
        rows = [METRICS.index(metric) for metric in metrics]
        at = np.rint(grid.times / self.interval).astype(int) % self.samples
        values = self.values[np.ix_(rows, np.arange(len(named)), at)]
        window = MetricWindow(values, metrics, named, grid.times)
        seen = dict.fromkeys(named, grid.end)
        covered = tuple(MetricCoverage(name, MetricState.ANSWERED, seen) for name in metrics)
        return Gathered(window, Coverage(named, covered, grid.end))
