"""A simulated fleet as a metric server would store it: OpenMetrics text with exporters' names.

Rates become counters, host values are shared out over the host's devices, so that whoever asks by
host and whoever asks by device finds what the window says.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from diagnosis.core.metrics import FloatArray, MetricWindow
from diagnosis.simulator.exposition_node import NodeFamily, by_name
from diagnosis.sources.labels import EntityKind
from diagnosis.sources.queries import MetricQuery, Transform, shipped_queries

#: Names of metrics that are asked for by a template and stand for themselves.
PLAIN = ("iteration_s", "dataload_ms", "tflops_actual")
_CLOCK_PORTS: Mapping[str, int] = {"gpu": 9400, "node": 9100, "job": 8000}


@dataclass(frozen=True, slots=True)
class Exposition:
    """How hosts are equipped.

    `faulty` is the (host, NIC) on which whatever is unusual of its NICs sits, `faulty_gpu` the
    (host, GPU's number) for its GPUs.
    """

    gpus: int = 2
    nics: int = 2
    faulty: tuple[str, str] | None = None
    faulty_gpu: tuple[str, int] | None = None

    def text(self, window: MetricWindow) -> str:
        """OpenMetrics text of all metrics of the window that exporters have a name for."""
        lines = [line for family in self._families(window) for line in family]
        return "\n".join([*lines, "# EOF", ""])

    def _families(self, window: MetricWindow) -> Iterator[list[str]]:
        queries = {query.metric: query for query in shipped_queries()}
        for row, metric in enumerate(window.metrics):
            query = queries.get(metric)
            if query is not None and (query.series or metric in PLAIN):
                yield self._family(query, window.values[row], window)
        for name, families in by_name(window.metrics):
            yield list(_node_lines(name, families, window))

    def _family(self, query: MetricQuery, values: FloatArray, window: MetricWindow) -> list[str]:
        stored = query.series[0] if query.series else None
        name = stored.name if stored else query.metric
        counts = stored is not None and query.transform in {Transform.RATE, Transform.FLOW}
        kind = "counter" if counts and name.endswith("_total") else "unknown"
        lines = [f"# TYPE {name.removesuffix('_total') if kind == 'counter' else name} {kind}"]
        stamps = [f"{at:.3f}" for at in window.time]
        for host, series in zip(window.hosts, values, strict=True):
            told = np.asarray(series / (stored.scale if stored else 1.0), np.float32)
            for labels, part in self._shared_out(query, host, told):
                shown = _counter(part, window) if counts else part
                lines += [
                    f"{name}{{{labels}}} {value:.6g} {stamp}"
                    if not counts
                    else f"{name}{{{labels}}} {value:.3f} {stamp}"
                    for value, stamp in zip(shown.tolist(), stamps, strict=True)
                    if np.isfinite(value)
                ]
        return lines

    def _shared_out(
        self, query: MetricQuery, host: str, values: FloatArray
    ) -> Iterator[tuple[str, FloatArray]]:
        at = f'instance="{host}:{_CLOCK_PORTS[query.exporter]}"'
        if query.entity is EntityKind.GPU:
            yield from self._over_gpus(query, at, host, values)
        elif query.entity is EntityKind.NIC:
            yield from self._over_nics(at, host, values)
        else:
            yield f'{at},node="{host}"', values

    def _over_gpus(
        self, query: MetricQuery, at: str, host: str, values: FloatArray
    ) -> Iterator[tuple[str, FloatArray]]:
        """Alike; what is unusual sits on the faulty GPU, so that the host's value is as told."""
        parts = self.gpus if query.per_host == "sum" else 1
        faulty = self.faulty_gpu[1] if self.faulty_gpu and self.faulty_gpu[0] == host else None
        usual = _usual(values)
        beyond = (values - usual) * (self.gpus if query.per_host == "avg" else 1)
        for gpu in range(self.gpus):
            share = values / parts
            if faulty is not None:
                share = usual / parts + (beyond if gpu == faulty else 0.0)
            at_least = np.maximum(share, np.float32(0.0)).astype(np.float32)
            yield f'{at},Hostname="{host}",gpu="{gpu}"', at_least

    def _over_nics(
        self, at: str, host: str, values: FloatArray
    ) -> Iterator[tuple[str, FloatArray]]:
        """Equal shares; beyond the host's usual height everything sits on the faulty NIC."""
        names = [f"mlx5_{number}" for number in range(self.nics)]
        faulty = self.faulty[1] if self.faulty and self.faulty[0] == host else None
        usual = _usual(values)
        for name in names:
            share = values / self.nics
            if faulty is not None:
                share = usual / self.nics + (values - usual if name == faulty else 0.0)
            yield f'{at},device="{name}",port="1"', np.maximum(share, np.float32(0.0))


def _node_lines(name: str, families: Sequence[NodeFamily], window: MetricWindow) -> Iterator[str]:
    kind = "counter" if families[0].counts else "unknown"
    yield f"# TYPE {name.removesuffix('_total') if families[0].counts else name} {kind}"
    stamps = [f"{at:.3f}" for at in window.time]
    for family in families:
        values = window.values[window.metrics.index(family.metric)]
        for host, series in zip(window.hosts, values, strict=True):
            told = family.of(series)
            shown = _counter(told, window) if family.counts else told
            at = f'instance="{host}:{_CLOCK_PORTS["node"]}",node="{host}"'
            labels = f"{at},{family.labels}" if family.labels else at
            for value, stamp in zip(shown.tolist(), stamps, strict=True):
                if np.isfinite(value):
                    yield f"{name}{{{labels}}} {value:.3f} {stamp}"


def _usual(values: FloatArray) -> FloatArray:
    """The series at its usual height: that of its first quarter; as it is where that is empty."""
    early = values[: len(values) // 4]
    return np.full_like(values, np.nanmedian(early)) if np.isfinite(early).any() else values


def _counter(rate: FloatArray, window: MetricWindow) -> FloatArray:
    """The counter whose rate this is: it counts on where nobody looks, NaN there."""
    seen = np.isfinite(rate)
    at = np.arange(len(rate))
    steady = np.interp(at, at[seen], rate[seen]) if seen.any() else np.zeros(len(rate))
    return np.where(seen, np.cumsum(steady) * window.interval, np.nan)
