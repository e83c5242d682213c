"""The time that a report looks at, cut into equal steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

_DAY = timedelta(days=1)
#: A Monday, from which weeks are counted.
_MONDAY = datetime(2024, 1, 1, tzinfo=UTC)
#: Up to so many days a step is a day, then a week; beyond, four weeks.
_DAYS, _WEEKS = 35, 400


@dataclass(frozen=True, slots=True)
class Period:
    """From `since` up to and without `until`."""

    since: datetime
    until: datetime

    @property
    def step(self) -> timedelta:
        """A day, a week or four weeks: as many steps as a picture can show."""
        days = (self.until - self.since) / _DAY
        return _DAY if days <= _DAYS else 7 * _DAY if days <= _WEEKS else 28 * _DAY

    @property
    def before(self) -> "Period":
        """The time of the same length before."""
        return Period(self.since - (self.until - self.since), self.since)

    def steps(self) -> Sequence["Period"]:
        """Steps in order; days begin at midnight UTC and weeks on Mondays, cut at both ends."""
        step, found = self.step, []
        start = _MONDAY + ((self.since - _MONDAY) // step) * step
        while start < self.until:
            end = start + step
            found.append(Period(max(start, self.since), min(end, self.until)))
            start = end
        return found

    def places_of(self, times: Sequence[float] | NDArray[np.float64]) -> NDArray[np.intp]:
        """Which of `steps()` each instant (seconds since 1970) is in; earlier ones in the first."""
        step = self.step.total_seconds()
        first = (self.since - _MONDAY) // self.step
        origin = _MONDAY.timestamp() + first * step
        places = (np.asarray(times, np.float64) - origin) // step
        return np.maximum(places, 0).astype(np.intp)
