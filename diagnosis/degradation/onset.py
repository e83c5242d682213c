"""When iterations became slower, and by how much (algorithms 3.3)."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import TimeArray

#: Longer series are averaged down to at most this many points before the search.
MAX_POINTS = 400
_DEVIATION_OF_DIFFERENCE = 1.4826 / np.sqrt(2)


@dataclass(frozen=True, slots=True)
class Onset:
    """A slowdown: from `time` (seconds) to `end` (None while it lasts).

    `before` and `after` are the typical values on both sides; `slowdown` is `after / before - 1`.
    """

    time: float
    end: float | None
    before: float
    after: float

    @property
    def slowdown(self) -> float:
        return self.after / self.before - 1


@dataclass(frozen=True)
class OnsetSearch:
    """Least-squares segments with a price per change, and the first lasting rise among them.

    A rise counts from `min_slowdown` (relative) on and from `min_duration_s` seconds on; a single
    slow iteration or a checkpoint is neither. `price` is the cost of one more change, in squared
    deviations per logarithm of the length.
    """

    min_slowdown: float = 0.1
    min_duration_s: float = 180.0
    price: float = 6.0
    min_points: int = 8

    def __call__(self, time: TimeArray, values: npt.NDArray[np.floating], /) -> Onset | None:
        """The first lasting slowdown in a series of iteration times, or None.

        `time` (seconds, ascending) and `values` (seconds an iteration) have one length; NaN and
        values that are not positive are left out.
        """
        times, points = _usable(time, values)
        if len(points) < self.min_points:
            return None
        edges = _segments(_without_spikes(points), self.price)
        levels = [float(np.median(points[a:b])) for a, b in pairwise(edges)]
        for index in range(1, len(levels)):
            before = float(np.median(points[: edges[index]]))
            if levels[index] / before - 1 < self.min_slowdown:
                continue
            halfway = before * (1 + (levels[index] / before - 1) / 2)
            last = index
            while last + 1 < len(levels) and levels[last + 1] > halfway:
                last += 1
            start, stop = edges[index], edges[last + 1]
            lasting = stop == len(points)
            end = None if lasting else float(times[stop])
            if (float(times[-1]) if end is None else end) - times[start] < self.min_duration_s:
                continue
            after = float(np.median(points[start:stop]))
            if after / before - 1 >= self.min_slowdown:
                return Onset(float(times[start]), end, before, after)
        return None


def find_onset(time: TimeArray, values: npt.NDArray[np.floating]) -> Onset | None:
    """The first lasting slowdown with the default settings; see `OnsetSearch`."""
    return OnsetSearch()(time, values)


def _usable(
    time: TimeArray, values: npt.NDArray[np.floating]
) -> tuple[TimeArray, npt.NDArray[np.float64]]:
    good = np.isfinite(time) & np.isfinite(values) & (np.nan_to_num(values) > 0)
    times, points = np.asarray(time[good], float), np.asarray(values[good], float)
    width = -(-len(points) // MAX_POINTS) if len(points) else 1
    whole = len(points) // width * width
    if width == 1:
        return times, points
    return times[:whole:width], np.median(points[:whole].reshape(-1, width), axis=1)


def _without_spikes(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Each point as the median of itself and its four neighbours."""
    padded = np.pad(points, 2, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1)


def _segments(points: npt.NDArray[np.float64], price: float) -> list[int]:
    """The edges of the cheapest piecewise-constant fit (optimal partitioning, O(n²))."""
    count = len(points)
    noise = _DEVIATION_OF_DIFFERENCE * float(np.median(np.abs(np.diff(points))))
    noise = max(noise, 0.005 * float(np.median(points)))
    cost_of_change = price * noise**2 * np.log(count)
    sums = np.concatenate([[0.0], np.cumsum(points)])
    squares = np.concatenate([[0.0], np.cumsum(np.square(points))])
    best = np.zeros(count + 1)
    best[0] = -cost_of_change
    previous = np.zeros(count + 1, dtype=np.intp)
    for end in range(1, count + 1):
        starts = np.arange(end)
        length = end - starts
        total = sums[end] - sums[:end]
        cost = squares[end] - squares[:end] - total**2 / length
        candidates = best[:end] + cost + cost_of_change
        previous[end] = int(np.argmin(candidates))
        best[end] = candidates[previous[end]]
    edges = [count]
    while edges[-1] > 0:
        edges.append(int(previous[edges[-1]]))
    return edges[::-1]
