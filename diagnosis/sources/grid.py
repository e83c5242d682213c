"""The times that a range query is evaluated at, and its parts under the server's limit."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Prometheus refuses more points per series in one query (web/api/v1, "exceeded maximum
#: resolution of 11,000 points per timeseries").
POINTS_PER_QUERY = 11_000


@dataclass(frozen=True, slots=True)
class TimeGrid:
    """`samples` evaluation times, `step` seconds apart from `start` (seconds since 1970)."""

    start: float
    step: float
    samples: int

    @classmethod
    def covering(cls, start: float, end: float, step: float) -> "TimeGrid":
        """The multiples of `step` from `start` to `end`, both included where they are multiples.

        Neighbouring windows share their times, so that caches on the way can answer. Raises
        `ValueError` for a step of zero or less, an end before the start, or times not finite.
        """
        step = round(step, 3)
        if not all(map(math.isfinite, (start, end, step))) or step <= 0 or end < start:
            raise ValueError(f"no time grid from {start} to {end} by {step} s")
        first, last = math.ceil(round(start / step, 6)), math.floor(round(end / step, 6))
        return cls(start=first * step, step=step, samples=max(0, last - first + 1))

    @property
    def end(self) -> float:
        """The last time; before `start` where there is none."""
        return self.start + (self.samples - 1) * self.step

    @property
    def times(self) -> NDArray[np.float64]:
        """All times, shape (samples,), seconds since 1970."""
        return self.start + self.step * np.arange(self.samples, dtype=np.float64)

    def parts(self, longest: int = POINTS_PER_QUERY) -> Iterator[tuple[int, "TimeGrid"]]:
        """Consecutive grids of at most `longest` samples, each with its offset in this one."""
        for offset in range(0, self.samples, longest):
            samples = min(longest, self.samples - offset)
            yield offset, TimeGrid(self.start + offset * self.step, self.step, samples)

    def place(self, times: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float32]:
        """Values at their nearest grid time, shape (samples,); NaN where none is or not finite."""
        placed = np.full(self.samples, np.nan, dtype=np.float32)
        index = np.rint((times - self.start) / self.step)
        with np.errstate(over="ignore"):
            narrow = values.astype(np.float32)
        usable = (index >= 0) & (index < self.samples) & np.isfinite(narrow)
        placed[index[usable].astype(np.int64)] = narrow[usable]
        return placed
