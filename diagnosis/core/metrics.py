"""Metric windows: what hosts and their devices measured over a stretch of time."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
TimeArray = npt.NDArray[np.float64]

#: DCGM writes blanks as integers near 2^63; no metric of this field reaches 2^62.
BLANK_FROM = 2.0**62


@dataclass(frozen=True)
class MetricWindow:
    """Samples of several metrics on several entities over one grid of times.

    `values` is float32 of shape (metrics, entities, samples), NaN where a sample is missing. An
    entity is a host (`devices[i]` is None) or one device on a host; `hosts` and `devices` have one
    name per entity. `time` is float64 seconds, ascending. Counters are already rates per second.
    Raises `ValueError` where the shapes do not fit.
    """

    values: FloatArray
    metrics: tuple[str, ...]
    hosts: tuple[str, ...]
    time: TimeArray
    devices: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        if not self.devices:
            object.__setattr__(self, "devices", (None,) * len(self.hosts))
        wanted = (len(self.metrics), len(self.hosts), len(self.time))
        if self.values.shape != wanted:
            raise ValueError(f"values have shape {self.values.shape}, the names say {wanted}")
        if len(self.devices) != len(self.hosts):
            raise ValueError(f"{len(self.devices)} devices for {len(self.hosts)} entities")
        if len(self.time) > 1 and not bool(np.all(np.diff(self.time) > 0)):
            raise ValueError("times must ascend")

    @cached_property
    def interval(self) -> float:
        """Seconds between two samples (the median); 0 where there are fewer than two."""
        return float(np.median(np.diff(self.time))) if len(self.time) > 1 else 0.0

    @property
    def span(self) -> float:
        """Seconds from the first sample to the last."""
        return float(self.time[-1] - self.time[0]) if len(self.time) else 0.0

    @cached_property
    def host_names(self) -> tuple[str, ...]:
        """Each host once, in the order of the entities."""
        return tuple(dict.fromkeys(self.hosts))

    def between(self, start: float, end: float) -> "MetricWindow":
        """The samples with `start <= time <= end` (seconds)."""
        low, high = np.searchsorted(self.time, [start, np.nextafter(end, np.inf)])
        return replace(self, values=self.values[:, :, low:high], time=self.time[low:high])


def without_blanks(values: npt.ArrayLike) -> FloatArray:
    """The same values as float32, NaN in place of infinities and of exporters' blank values."""
    with np.errstate(over="ignore", invalid="ignore"):
        clean = np.array(values, dtype=np.float32)
        clean[~(np.abs(clean) < BLANK_FROM)] = np.nan
    return clean
