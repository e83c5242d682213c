"""The warm-up: each host's own past, learned from the first stretch of a window."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from diagnosis.core.metrics import FloatArray, TimeArray
from diagnosis.degradation.peers import MAD_TO_DEVIATION, Peers, median_over_time, row_median
from diagnosis.degradation.recent import Recent
from diagnosis.degradation.scaling import Scaling
from diagnosis.degradation.state import Common, Excursions, Jumps, Panel, Smoothed, Watch

#: A cell's own variance counts as much as this many independent looks at its peers' variance.
POOLED_LOOKS = 4.0
#: Below this many hosts the spread over hosts at one moment is a poor measure.
SMALL_GROUP = 24
#: Levels are medians of about this many samples of each cell.
OFFSET_SAMPLES = 30
#: No cell counts as noisier than its peers by more than this factor (of variances).
MAX_NOISINESS = 25.0
#: No distance in the warm-up counts for more than this many typical deviations.
GLITCH = 12.0
_LIMIT_EVERY = 5
_TINY_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Pace:
    """Time constants of the two means, in seconds."""

    fast: float
    slow: float


def learn(panel: Panel, scaling: Scaling, values: FloatArray, time: TimeArray, pace: Pace) -> Watch:
    """A state from the warm-up: `values` (metrics, entities, samples) in the order of the peers.

    Each cell is brought to its own level before peers are compared, so that it does not matter
    which of them answered at which time.
    Offsets are medians over time, so that a fault that begins late in the warm-up does not become
    the norm. Variances are those that both means really had, pooled with the peers'.
    """
    peers = panel.peers
    ticks = _calmed(
        [scaling(np.ascontiguousarray(values[:, :, i])) for i in range(len(time))], scaling
    )
    some = ticks[:: max(1, len(ticks) // OFFSET_SAMPLES)]
    own = median_over_time(np.stack(some, axis=-1))
    offset = median_over_time(np.stack([tick - peers.median(tick - own) for tick in some], axis=-1))
    moved = [tick - offset for tick in ticks]
    usual = [peers.median(tick) for tick in moved]
    apart = [tick - together for tick, together in zip(moved, usual, strict=True)]
    apart = _limited(apart, peers)
    noisiness = _noisiness(apart, peers)
    step = float(np.median(np.diff(time))) if len(time) > 1 else 1.0
    return Watch(
        panel=panel,
        scaling=scaling,
        start=float(time[0]),
        time=float(time[-1]),
        offset=offset,
        age=np.float32(step) * _present(ticks),
        excursions=Excursions(
            longest=_longest_excursions(apart, scaling.floor, step),
            strong=np.zeros(offset.shape, dtype=np.bool_),
            run=np.zeros_like(offset),
        ),
        jumps=_jumps(apart) if len(set(panel.hosts)) < SMALL_GROUP else None,
        recent=Recent(*(ticks[-1].copy() for _ in range(2))),
        fast=_smoothed(apart, noisiness, peers, step, pace.fast),
        slow=_smoothed(apart, noisiness, peers, step, pace.slow),
        common=_common(np.stack(usual, axis=-1), step, pace.fast),
    )


def _calmed(ticks: list[FloatArray], scaling: Scaling) -> list[FloatArray]:
    memory = Recent.of(ticks[0])
    return [memory.calmed(tick, scaling.abnormal[:, 0]) for tick in ticks]


def _wide(column: FloatArray, like: FloatArray) -> FloatArray:
    return np.broadcast_to(column, like.shape)


def _smoothed(
    apart: Sequence[FloatArray],
    noisiness: FloatArray,
    peers: Peers,
    step: float,
    constant: float,
) -> Smoothed:
    """The mean of this time constant that a warm-up leaves behind, and its usual variance.

    A long mean is seen only a few times in a warm-up, so its own variance is pooled with the
    peers', and never less than the peers' times how much noisier than they the cell's samples are.
    """
    gain = np.float32(1 - np.exp(-step / constant))
    mean = np.zeros_like(apart[0])
    squares = np.zeros_like(mean)
    limit = np.full_like(mean, np.inf)
    for number, tick in enumerate(apart):
        change = tick - mean
        change *= gain
        if bool(np.isnan(change.min())):
            change[np.isnan(change)] = 0.0
        mean += change
        if number % _LIMIT_EVERY == 0:
            limit = np.maximum(9 * np.square(_wide(peers.deviation(mean), mean)), _TINY_VARIANCE)
        squares += np.minimum(np.square(mean), limit)
    count = _present(apart)
    own: FloatArray = (squares / np.maximum(count, 1)).astype(np.float32)
    pooled = _typical(own, peers)
    looks = count * np.float32(step / (2 * constant))
    variance = (looks * own + POOLED_LOOKS * pooled) / (looks + POOLED_LOOKS)
    variance = np.maximum(variance, pooled * noisiness)
    variance = np.maximum(variance, _TINY_VARIANCE).astype(np.float32)
    usual = np.sqrt(variance)
    run = np.zeros_like(mean)
    return Smoothed(mean=mean, variance=variance, usual=usual, edge=10 * usual, run=run)


def _typical(variance: FloatArray, peers: Peers) -> FloatArray:
    """The peers' typical variance: that of the median deviation."""
    return np.square(_wide(peers.median(np.sqrt(variance)), variance))


def _present(ticks: Sequence[FloatArray]) -> FloatArray:
    """How many samples of each cell are there, (metrics, entities)."""
    count = np.full_like(ticks[0], len(ticks))
    for tick in ticks:
        if bool(np.isnan(tick.min())):
            count -= np.isnan(tick)
    return count


def _limited(apart: Sequence[FloatArray], peers: Peers) -> list[FloatArray]:
    """Distances cut off far beyond what is typical, so that a glitch leaves no trace."""
    some = apart[::_LIMIT_EVERY]
    typical = [np.square(_wide(peers.deviation(tick), tick)) for tick in some]
    present = np.maximum(np.sum([np.isfinite(tick) for tick in typical], axis=0), 1)
    usual = np.sum([np.nan_to_num(tick) for tick in typical], axis=0) / present
    reach = (GLITCH * np.sqrt(np.maximum(usual, _TINY_VARIANCE))).astype(np.float32)
    return [np.minimum(np.maximum(tick, -reach), reach) for tick in apart]


def _noisiness(apart: Sequence[FloatArray], peers: Peers) -> FloatArray:
    """Each cell's variance between samples over its peers' typical one, (metrics, entities)."""
    square = np.zeros_like(apart[0])
    for tick in apart:
        square += np.nan_to_num(np.square(tick)) if np.isnan(tick.min()) else np.square(tick)
    square /= np.maximum(_present(apart), 1)
    typical = np.maximum(_typical(square, peers), _TINY_VARIANCE)
    return np.clip(square / typical, 0.0, MAX_NOISINESS).astype(np.float32)


def _common(usual: FloatArray, step: float, constant: float) -> Common:
    level = median_over_time(usual)
    gain = np.float32(1 - np.exp(-step / constant))
    mean = np.zeros_like(level)
    sizes = []
    for tick in range(usual.shape[-1]):
        change = gain * (usual[:, :, tick] - level - mean)
        mean = np.where(np.isfinite(change), mean + change, mean)
        sizes.append(np.abs(mean))
    deviation = MAD_TO_DEVIATION * median_over_time(np.stack(sizes, axis=-1))
    variance = np.maximum(np.square(deviation), _TINY_VARIANCE)
    return Common(level=level, mean=mean, variance=variance, run=np.zeros_like(mean))


def _longest_excursions(apart: Sequence[FloatArray], floor: FloatArray, step: float) -> FloatArray:
    """Seconds of each cell's longest stay beyond twice the floor that ended by itself."""
    longest, run = np.zeros_like(apart[0]), np.zeros_like(apart[0])
    for tick in apart:
        away = np.abs(tick) > 2 * floor
        ended = (run > 0) & ~away
        if bool(ended.any()):
            longest[ended] = np.maximum(longest, run)[ended]
        run += np.float32(step)
        run *= away
    return longest


def _jumps(apart: Sequence[FloatArray]) -> Jumps:
    sizes = [row_median(np.abs(after - before)) for before, after in pairwise(apart)]
    usual = np.nan_to_num(median_over_time(np.stack(sizes, axis=-1)))[:, None]
    usual = np.maximum(usual, 1e-6).astype(np.float32)
    return Jumps(last=apart[-1], mean=usual.copy(), usual=usual)
