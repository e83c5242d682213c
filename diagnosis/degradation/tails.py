"""How far healthy hosts of a metric stray: bounds are widened where tails are heavy."""

import numpy as np

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.state import Smoothed

#: Fewer entities tell nothing of tails.
FEW = 8
#: The farthest of all cells in an hour is so many times as far as a metric's foremost hosts.
_FARTHEST = np.float32(2.2)
#: Tails never widen a bound further than this.
_WIDEST = np.float32(1.6)


def follow_tail(smooth: Smoothed, *, limit: float, fade: np.float32) -> None:
    """Note how many deviations the second or third host of each metric is away.

    The first ones are left out, since they may be faulty. `limit` is the bound in deviations,
    `fade` the share that is forgotten.
    """
    entities = smooth.mean.shape[1]
    if entities < FEW:
        return
    place = entities - (3 if entities >= 3 * FEW else 2)
    away = np.abs(smooth.mean) / smooth.usual
    np.copyto(away, 0.0, where=np.isnan(away))
    most = _WIDEST * np.float32(limit) / _FARTHEST
    smooth.tail = (1 - fade) * smooth.tail
    further = np.flatnonzero(away.max(axis=1) > smooth.tail[:, 0])
    now = np.partition(away[further], place, axis=1)[:, [place]]
    smooth.tail[further] = np.maximum(smooth.tail[further], np.minimum(now, most))


def widening(smooth: Smoothed, limit: float) -> FloatArray:
    """By how much the bound of each metric is widened, 1 or more, (metrics, 1)."""
    wider: FloatArray = np.maximum(np.float32(1.0), smooth.tail * (_FARTHEST / np.float32(limit)))
    return wider
