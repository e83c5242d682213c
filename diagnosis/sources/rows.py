"""Series collected into rows by metric and entity, and from there into one dense array."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.sources.answers import RangeAnswer, Series
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.labels import LabelMap, device_of
from diagnosis.sources.queries import MetricQuery

#: Host in the placement's spelling, and the device on it; None for the host itself.
Entity: TypeAlias = tuple[str, str | None]


class TakeSettings(Protocol):
    """What decides which row a series belongs to."""

    @property
    def by_host(self) -> bool: ...
    @property
    def labels(self) -> LabelMap: ...


class CollectedRows:
    """Rows under way. `wanted` maps normalised host names to the placement's spelling."""

    def __init__(self, grid: TimeGrid, wanted: Mapping[str, str]) -> None:
        self._grid = grid
        self._wanted = wanted
        self._rows: dict[str, dict[Entity, Series]] = {}
        self._named_by: dict[tuple[str, str], set[str]] = {}
        self.notes: dict[str, None] = {}

    def note(self, text: str) -> None:
        self.notes[text] = None

    def take(self, query: MetricQuery, answer: RangeAnswer, settings: TakeSettings) -> None:
        """File the answer's series under the metric; series of other hosts are passed over."""
        for text in answer.notes:
            self.note(f"{query.metric}: {text}")
        for series in answer.series:
            found = settings.labels.host_of(series.labels, query.exporter, self._wanted)
            if found is None:
                continue
            label, host = found
            self._named_by.setdefault((query.exporter, label), set()).add(host)
            device = None if settings.by_host else device_of(series.labels, query.entity)
            self._put(query.metric, (host, device), series)

    def names_every_host(self, exporter: str, label: str) -> bool:
        """True once this label of the exporter has named every wanted host."""
        named = self._named_by.get((exporter, label), ())
        return bool(named) and len(named) == len(self._wanted)

    def _put(self, metric: str, entity: Entity, series: Series) -> None:
        """The first series of an entity counts; a second one fills its gaps."""
        rows = self._rows.setdefault(metric, {})
        first = rows.setdefault(entity, series)
        if first is series:
            return
        if not _one_aggregate_by_two_labels(first, series):
            host, device = entity
            name = f"{host}/{device}" if device else host
            self.note(f"{metric}: several series for one device ({name}); the first counts")
        np.copyto(first.values, series.values, where=np.isnan(first.values))

    @property
    def metrics(self) -> frozenset[str]:
        """Metrics with at least one series."""
        return frozenset(self._rows)

    def window(self, metrics: Sequence[str]) -> MetricWindow:
        """All rows as one window, NaN where nothing is known."""
        column = {entity: number for number, entity in enumerate(self._entities())}
        shape = (len(metrics), len(column), self._grid.samples)
        values = np.full(shape, np.nan, dtype=np.float32)
        for number, metric in enumerate(metrics):
            for entity, series in self._rows.get(metric, {}).items():
                values[number, column[entity]] = series.values
        return MetricWindow(
            values=values,
            metrics=tuple(metrics),
            hosts=tuple(host for host, _ in column),
            devices=tuple(device for _, device in column),
            time=self._grid.times,
        )

    def _entities(self) -> list[Entity]:
        """Every entity with a series: hosts in the placement's order, then devices by name."""
        order = {host: number for number, host in enumerate(self._wanted.values())}
        found = {entity for rows in self._rows.values() for entity in rows}
        return sorted(found, key=lambda entity: (order[entity[0]], entity[1] or ""))

    def last_seen(self, metric: str) -> dict[str, float]:
        """Host → time of its last value of this metric; hosts without a value are not in it."""
        seen: dict[str, float] = {}
        for (host, _), series in self._rows.get(metric, {}).items():
            known = np.flatnonzero(np.isfinite(series.values))
            if known.size:
                last = self._grid.start + float(known[-1]) * self._grid.step
                seen[host] = max(last, seen.get(host, last))
        return seen


def _one_aggregate_by_two_labels(first: Series, second: Series) -> bool:
    """True where one host was summed up by each of two labels that both name it."""
    alone = len(first.labels) == len(second.labels) == 1
    return alone and first.labels.keys() != second.labels.keys()
