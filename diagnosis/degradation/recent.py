"""Lone spikes are taken out before anything is averaged."""

from dataclasses import dataclass

import numpy as np

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.scaling import BoolArray

#: A counter is at a new height from this distance (common scale) to the one before.
_NEW = np.float32(0.015)


@dataclass
class Recent:
    """The last two samples that were there, on the common scale, (metrics, entities).

    `moved` tells of the last sample whether it differs from the one before (a counter's by more
    than what else trickles in), `changed` when a sample last did (seconds since the start of the
    state). `away` is how far the cell was from its peers when its value was last new.
    """

    last: FloatArray
    before: FloatArray
    moved: BoolArray
    changed: FloatArray
    due: BoolArray
    away: FloatArray

    @classmethod
    def of(cls, first: FloatArray) -> "Recent":
        nothing = np.zeros(first.shape, np.bool_)
        still = np.zeros_like(first)
        return cls(first.copy(), first.copy(), nothing, still, nothing.copy(), still.copy())

    def note_changes(self, time: float) -> None:
        """Date the values that are new at `time`, in seconds since the start of the state."""
        dated = self.moved.astype(np.float32)
        dated *= np.float32(time)
        np.maximum(self.changed, dated, out=self.changed)

    def note_distances(self, apart: FloatArray, missing: BoolArray | None) -> None:
        """Keep the distances to the peers, (metrics, entities), of values that are new.

        A gauge's new value is the middle of three only one sample later, which is `due`.
        """
        fresh = self.moved | self.due
        if missing is None:
            self.due = self.moved
        else:
            self.due = self.moved | (self.due & missing)
            fresh &= ~missing
        self.away = np.where(fresh, apart, self.away)

    def calmed(self, now: FloatArray, bursty: BoolArray) -> FloatArray:
        """The middle of the last three samples, so that a lone spike never counts.

        `bursty` rows (counters) are left as they are: there a lone burst means something. NaN
        stays NaN and is not remembered.
        """
        counts = np.flatnonzero(bursty)
        burst = now[counts]
        self.moved = now != self.last
        self.moved[counts] = np.abs(burst - self.last[counts]) > _NEW
        low = np.fmin(self.last, self.before)
        calm = np.fmax(self.last, self.before)
        np.minimum(calm, now, out=calm)
        np.fmax(low, calm, out=calm)
        calm[counts] = burst
        if bool(np.isnan(now.min())):
            missing = np.isnan(now)
            calm[missing] = np.nan
            self.moved &= ~missing
            self.before = np.where(missing, self.before, self.last)
            self.last = np.where(missing, self.last, now)
        else:
            self.before, self.last = self.last, now
        return calm
