"""Long tables of samples become a window on one grid of times."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import FloatArray, MetricWindow, TimeArray, without_blanks
from diagnosis.readers.errors import UnreadableEvidence

#: A window with more cells than this is refused: 1,000 hosts × 25 metrics × 5,400 samples fit.
MAX_CELLS = 150_000_000

#: Exporters scrape at different intervals; a sample stands until its series' next one is due.
HELD_INTERVALS = 1.5


@dataclass(frozen=True)
class LongTable:
    """Samples as columns of equal length: seconds, value, and the index of each sample's series.

    A series is (host, device or None, metric); several samples of it in one cell of the grid leave
    the last one.
    """

    time: TimeArray
    value: npt.NDArray[np.float64]
    series: npt.NDArray[np.int64]
    names: Sequence[tuple[str, str | None, str]]


def window_of(table: LongTable) -> MetricWindow:
    """The table on a grid as fine as its typical series; raises `UnreadableEvidence` if unfit."""
    usable = np.isfinite(table.time)
    time, value, series = table.time[usable], table.value[usable], table.series[usable]
    if time.size == 0:
        raise UnreadableEvidence("no sample with a readable time")
    order = np.lexsort((time, series))
    time, value, series = time[order], value[order], series[order]
    steps = _series_steps(time, series, len(table.names))
    step = _grid_step(steps)
    start = float(time.min())
    samples = round((float(time.max()) - start) / step) + 1
    metrics = sorted({metric for _, _, metric in table.names})
    entities = list(dict.fromkeys((host, device) for host, device, _ in table.names))
    if len(metrics) * len(entities) * samples > MAX_CELLS:
        raise UnreadableEvidence(
            f"{len(metrics)} metrics × {len(entities)} entities × {samples} samples are too many"
        )
    grid = np.full((len(table.names), samples), np.nan, dtype=np.float32)
    grid[series, np.rint((time - start) / step).astype(np.int64)] = without_blanks(value)
    for slow in np.flatnonzero(steps > HELD_INTERVALS * step):
        grid[slow] = _held(grid[slow], int(HELD_INTERVALS * steps[slow] / step))
    values = np.full((len(metrics), len(entities), samples), np.nan, dtype=np.float32)
    metric_at = {metric: i for i, metric in enumerate(metrics)}
    entity_at = {entity: i for i, entity in enumerate(entities)}
    for index, (host, device, metric) in enumerate(table.names):
        values[metric_at[metric], entity_at[host, device]] = grid[index]
    return MetricWindow(
        values=values,
        metrics=tuple(metrics),
        hosts=tuple(host for host, _ in entities),
        devices=tuple(device for _, device in entities),
        time=start + step * np.arange(samples, dtype=np.float64),
    )


def _series_steps(time: TimeArray, series: npt.NDArray[np.int64], count: int) -> TimeArray:
    """The median distance of two samples in each series, in seconds; NaN for a lone sample."""
    gaps = np.diff(time)
    inside = (np.diff(series) == 0) & (gaps > 0)
    gaps, owner = gaps[inside], series[1:][inside]
    order = np.lexsort((gaps, owner))
    gaps, owner = gaps[order], owner[order]
    low = np.searchsorted(owner, np.arange(count), side="left")
    high = np.searchsorted(owner, np.arange(count), side="right")
    steps = np.full(count, np.nan)
    known = high > low
    steps[known] = gaps[(low[known] + high[known] - 1) // 2]
    return steps


def _grid_step(steps: TimeArray) -> float:
    known = steps[np.isfinite(steps)]
    return float(np.median(known)) if known.size else 1.0


def _held(row: FloatArray, cells: int) -> FloatArray:
    """The row with each sample carried forward over at most `cells` missing ones."""
    index = np.arange(row.size)
    last = np.maximum.accumulate(np.where(np.isnan(row), -1, index))
    return np.where((last >= 0) & (index - last <= cells), row[last], np.nan).astype(np.float32)
