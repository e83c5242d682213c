"""A metric source without a network: it answers from a simulated window."""

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
    """Answers by the place of a host in the placement, over and over where `endless`.

    By device every host has two NICs; what is unusual sits on `nic`.
    """

    def __init__(self, window: MetricWindow, *, nic: str = "mlx5_1", endless: bool = False) -> None:
        self.window, self.nic, self.endless = window, nic, endless
        self.asked = 0

    @classmethod
    def healthy(cls, hosts: int) -> "FleetSource":
        random = np.random.default_rng(5)
        fleet = healthy_fleet(random, hosts=hosts, samples=400, interval=15.0, start=0.0)
        names = tuple(f"node-{number:03d}" for number in range(hosts))
        return cls(MetricWindow(fleet.values, METRICS, names, fleet.time), endless=True)

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
        metrics = tuple(query.metric for query in queries if query.metric in self.window.metrics)
        values = self._values(metrics, named, grid)
        if not by_host:
            return self._by_device(metrics, named, grid, values)
        return _gathered(MetricWindow(values, metrics, named, grid.times), grid)

    def _values(self, metrics: Sequence[str], hosts: Sequence[str], grid: TimeGrid) -> np.ndarray:
        known = self.window
        rows = [known.metrics.index(metric) for metric in metrics]
        columns = [
            known.hosts.index(host) if host in known.hosts else place % len(known.hosts)
            for place, host in enumerate(hosts)
        ]
        at = np.rint((grid.times - known.time[0]) / known.interval).astype(int)
        inside = (at >= 0) & (at < len(known.time))
        values = known.values[np.ix_(rows, columns, at % len(known.time))]
        return values if self.endless else np.where(inside, values, np.nan).astype(np.float32)

    def _by_device(
        self, metrics: tuple[str, ...], hosts: tuple[str, ...], grid: TimeGrid, values: np.ndarray
    ) -> Gathered:
        usual = np.nanmedian(values[:, :, : max(1, values.shape[2] // 4)], axis=2, keepdims=True)
        parts = [
            values - usual / 2 if nic == self.nic else np.broadcast_to(usual / 2, values.shape)
            for nic in ("mlx5_0", "mlx5_1")
        ]
        window = MetricWindow(
            np.concatenate(parts, axis=1).astype(np.float32),
            metrics,
            hosts * 2,
            grid.times,
            ("mlx5_0",) * len(hosts) + ("mlx5_1",) * len(hosts),
        )
        return _gathered(window, grid)


def _gathered(window: MetricWindow, grid: TimeGrid) -> Gathered:
    told = np.asarray(np.isfinite(window.values).any(axis=(0, 2)))
    last = {host: grid.end for host, here in zip(window.hosts, told, strict=True) if here}
    state = MetricState.ANSWERED if last else MetricState.NO_SERIES
    covered = tuple(MetricCoverage(name, state, last) for name in window.metrics)
    return Gathered(window, Coverage(window.host_names, covered, grid.end))
