"""The warm-up: each host's own past, learned from the first stretch of a window."""

from dataclasses import dataclass

import numpy as np

from diagnosis.core.metrics import FloatArray, TimeArray
from diagnosis.degradation.peers import MAD_TO_DEVIATION, Peers, row_median
from diagnosis.degradation.recent import Recent
from diagnosis.degradation.scaling import Scaling
from diagnosis.degradation.state import Common, Jumps, Panel, Smoothed, Watch

#: A cell's own variance counts as much as this many independent looks at its peers' variance.
POOLED_LOOKS = 4.0
#: Below this many hosts the spread over hosts at one moment is a poor measure.
SMALL_GROUP = 24
#: Levels are medians of about this many samples of each cell.
OFFSET_SAMPLES = 30
#: No cell counts as noisier than its peers by more than this factor (of variances).
MAX_NOISINESS = 25.0
_LIMIT_EVERY = 5
_TINY_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Pace:
    """Time constants in seconds of the two means, and the length of the warm-up."""

    fast: float
    slow: float
    warmup: float


def learn(panel: Panel, scaling: Scaling, values: FloatArray, time: TimeArray, pace: Pace) -> Watch:
    """A state from the warm-up: `values` (metrics, entities, samples) in the order of the peers.

    Each cell is brought to its own level before peers are compared, so that it does not matter
    which of them answered at which time.
    Offsets are medians over time, so that a fault that begins late in the warm-up does not become
    the norm. Variances are those that both means really had, pooled with the peers'.
    """
    ticks = _calmed(
        [scaling(np.ascontiguousarray(values[:, :, i])) for i in range(len(time))], scaling
    )
    scaled = np.stack(ticks, axis=-1)
    some = slice(None, None, max(1, len(ticks) // OFFSET_SAMPLES))
    own = _median_over_time(scaled[:, :, some])
    peers = [panel.peers.median(tick - own) for tick in ticks]
    together = np.stack(peers, axis=-1)
    offset = _median_over_time((scaled - together)[:, :, some])
    usual = np.stack([panel.peers.median(tick - offset) for tick in ticks], axis=-1)
    apart = scaled - offset[:, :, None] - usual
    step = float(np.median(np.diff(time))) if len(time) > 1 else 1.0
    return Watch(
        panel=panel,
        scaling=scaling,
        start=float(time[0]),
        time=float(time[-1]),
        offset=offset,
        age=np.count_nonzero(np.isfinite(scaled), axis=-1).astype(np.float32) * np.float32(step),
        jumps=_jumps(apart) if len(set(panel.hosts)) < SMALL_GROUP else None,
        recent=Recent(*(ticks[-1].copy() for _ in range(2))),
        fast=_smoothed(apart, panel.peers, step, pace.fast, pace.warmup),
        slow=_smoothed(apart, panel.peers, step, pace.slow, pace.warmup),
        common=_common(usual, _median_over_time(usual), step, pace.fast),
    )


def _calmed(ticks: list[FloatArray], scaling: Scaling) -> list[FloatArray]:
    memory = Recent.of(ticks[0])
    return [memory.calmed(tick, scaling.abnormal[:, 0]) for tick in ticks]


def _wide(column: FloatArray, like: FloatArray) -> FloatArray:
    return np.broadcast_to(column, like.shape)


def _median_over_time(values: FloatArray) -> FloatArray:
    """Median over the last axis, NaN where nothing is present."""
    ordered = np.sort(values, axis=-1)
    present = np.count_nonzero(~np.isnan(ordered), axis=-1)[..., None]
    middle = np.maximum(present - 1, 0) // 2
    upper = np.minimum(present // 2, values.shape[-1] - 1)
    low = np.take_along_axis(ordered, middle, axis=-1)
    high = np.take_along_axis(ordered, upper, axis=-1)
    return np.where(present > 0, (low + high) / 2, np.nan)[..., 0].astype(np.float32)


def _smoothed(
    apart: FloatArray, peers: Peers, step: float, constant: float, warmup: float
) -> Smoothed:
    """The mean that the warm-up leaves behind, and the variance that such a mean usually has.

    A long mean is seen only a few times in a warm-up, so its own variance is pooled with the
    peers', and never less than the peers' times how much noisier than they the cell's samples are.
    """
    gain = np.float32(1 - np.exp(-step / constant))
    mean = np.zeros(apart.shape[:2], dtype=np.float32)
    squares, count = np.zeros_like(mean), np.zeros_like(mean)
    limit = np.full_like(mean, np.inf)
    for tick in range(apart.shape[-1]):
        change = gain * (apart[:, :, tick] - mean)
        present = np.isfinite(change)
        change[~present] = 0.0
        mean += change
        if tick % _LIMIT_EVERY == 0:
            limit = np.maximum(9 * np.square(_wide(peers.deviation(mean), mean)), _TINY_VARIANCE)
        squares += np.minimum(np.square(mean), limit) * present
        count += present
    own = squares / np.maximum(count, 1)
    pooled = _typical(own, peers)
    looks = np.float32(max(warmup, step) / (2 * constant))
    variance = (looks * own + POOLED_LOOKS * pooled) / (looks + POOLED_LOOKS)
    variance = np.maximum(variance, pooled * _noisiness(apart, peers))
    variance = np.maximum(variance, _TINY_VARIANCE).astype(np.float32)
    usual = np.sqrt(variance)
    run = np.zeros_like(mean)
    return Smoothed(mean=mean, variance=variance, usual=usual, edge=10 * usual, run=run)


def _typical(variance: FloatArray, peers: Peers) -> FloatArray:
    """The peers' typical variance: that of the median deviation."""
    return np.square(_wide(peers.median(np.sqrt(variance)), variance))


def _noisiness(apart: FloatArray, peers: Peers) -> FloatArray:
    """Each cell's variance between samples over its peers' typical one, (metrics, entities)."""
    present = np.isfinite(apart)
    count = np.maximum(present.sum(axis=-1), 1)
    square = np.where(present, np.square(apart), 0.0).sum(axis=-1, dtype=np.float32) / count
    typical = np.maximum(_typical(square, peers), _TINY_VARIANCE)
    return np.clip(square / typical, 0.0, MAX_NOISINESS).astype(np.float32)


def _common(usual: FloatArray, level: FloatArray, step: float, constant: float) -> Common:
    gain = np.float32(1 - np.exp(-step / constant))
    mean = np.zeros_like(level)
    sizes = []
    for tick in range(usual.shape[-1]):
        change = gain * (usual[:, :, tick] - level - mean)
        mean = np.where(np.isfinite(change), mean + change, mean)
        sizes.append(np.abs(mean))
    deviation = MAD_TO_DEVIATION * _median_over_time(np.stack(sizes, axis=-1))
    variance = np.maximum(np.square(deviation), _TINY_VARIANCE)
    return Common(level=level, mean=mean, variance=variance, run=np.zeros_like(mean))


def _jumps(apart: FloatArray) -> Jumps:
    sizes = np.abs(np.diff(apart, axis=-1))
    medians = np.stack([row_median(sizes[:, :, i]) for i in range(sizes.shape[-1])], axis=-1)
    present = np.isfinite(medians)
    total = np.where(present, medians, 0.0).sum(axis=-1, keepdims=True)
    usual = np.maximum(total / np.maximum(present.sum(axis=-1, keepdims=True), 1), 1e-6)
    return Jumps(
        last=apart[:, :, -1], mean=usual.astype(np.float32), usual=usual.astype(np.float32)
    )
