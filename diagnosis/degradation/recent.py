"""Lone spikes are taken out before anything is averaged."""

from dataclasses import dataclass

import numpy as np

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.scaling import BoolArray


@dataclass
class Recent:
    """The last two samples that were there, on the common scale, (metrics, entities)."""

    last: FloatArray
    before: FloatArray

    @classmethod
    def of(cls, first: FloatArray) -> "Recent":
        return cls(first.copy(), first.copy())

    def calmed(self, now: FloatArray, bursty: BoolArray) -> FloatArray:
        """The middle of the last three samples, so that a lone spike never counts.

        `bursty` rows (counters) are left as they are: there a lone burst means something. NaN
        stays NaN and is not remembered.
        """
        low = np.fmin(self.last, self.before)
        high = np.fmax(self.last, self.before)
        calm = np.fmax(low, np.minimum(high, now))
        calm[bursty] = now[bursty]
        if bool(np.isnan(now.min())):
            missing = np.isnan(now)
            calm[missing] = np.nan
            self.before = np.where(missing, self.before, self.last)
            self.last = np.where(missing, self.last, now)
        else:
            self.before, self.last = self.last, now
        return calm
