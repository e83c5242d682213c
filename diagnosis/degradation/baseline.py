"""The warm-up: each host's own past, learned from the first stretch of a window."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import FloatArray, TimeArray
from diagnosis.degradation.peers import (
    MAD_TO_DEVIATION,
    Peers,
    in_time,
    median_over_time,
    row_median,
)
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
#: A cell with fewer samples in the warm-up has no past yet.
FEWEST_SAMPLES = 8
#: Held values count as scraped at most so many samples apart: they may as well be rounded.
SLOWEST_SCRAPE = 4.0
_LIMIT_EVERY = 5
#: Multiples of this, whole numbers left off, fill a span evenly and meet no period.
_GOLDEN = (5**0.5 - 1) / 2
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
    ticks = [scaling(tick) for tick in in_time(values)]
    changes = _changes(ticks)
    ticks = _calmed(ticks, scaling)
    some = _some(len(ticks))
    own = scaling(median_over_time(values[:, :, some]))
    levels = [ticks[at] - peers.median(ticks[at] - own) for at in some.tolist()]
    offset = median_over_time(np.stack(levels, axis=-1))
    present = _present(ticks)
    apart = [tick - offset for tick in ticks]
    usual = [peers.median(tick) for tick in apart]
    for tick, together in zip(apart, usual, strict=True):
        np.subtract(tick, together, out=tick)
    _limit(apart, peers)
    noisiness = _noisiness(apart, present, peers)
    step = float(np.median(np.diff(time))) if len(time) > 1 else 1.0
    every = _every(changes, present / np.float32(len(ticks)), scaling, step)
    seen = present.copy()
    unknown = present < min(FEWEST_SAMPLES, len(ticks) // 2)
    offset[unknown], present[unknown] = np.nan, 0.0
    return Watch(
        panel=panel,
        scaling=scaling,
        start=float(time[0]),
        time=float(time[-1]),
        offset=offset,
        age=np.float32(step) * present,
        every=every,
        excursions=Excursions(
            longest=np.nan_to_num(_longest_excursions(apart, scaling.floor, step)),
            strong=np.zeros(offset.shape, dtype=np.bool_),
            run=np.zeros_like(offset),
        ),
        jumps=_jumps(apart) if len(set(panel.hosts)) < SMALL_GROUP else None,
        recent=Recent.of(ticks[-1]),
        fast=_smoothed(apart, seen, noisiness, peers, step / pace.fast),
        slow=_smoothed(apart, seen, noisiness, peers, step / pace.slow),
        common=_common(np.stack(usual, axis=-1), step, pace.fast),
    )


def _some(samples: int) -> npt.NDArray[np.intp]:
    """About `OFFSET_SAMPLES` of so many samples, at no fixed distance.

    Every second sample would be all or nothing of a series that is scraped every second time.
    """
    if samples < 2 * OFFSET_SAMPLES:
        return np.arange(samples)
    turns = np.arange(OFFSET_SAMPLES) * _GOLDEN
    return np.unique((turns % 1.0 * samples).astype(np.intp))


def _calmed(ticks: list[FloatArray], scaling: Scaling) -> list[FloatArray]:
    memory = Recent.of(ticks[0])
    return [memory.calmed(tick, scaling.abnormal[:, 0]) for tick in ticks]


def _changes(ticks: Sequence[FloatArray]) -> FloatArray:
    """The share of samples in which each cell's value is new, (metrics, entities).

    Counted where two samples follow each other; what never does so is new whenever it is there.
    """
    changes = np.zeros_like(ticks[0])
    pairs = np.full_like(changes, max(len(ticks) - 1, 1))
    for before, after in pairwise(ticks):
        changes += before != after
        if bool(np.isnan(after.min())) or bool(np.isnan(before.min())):
            gaps = np.isnan(before) | np.isnan(after)
            changes -= gaps
            pairs -= gaps
    share: FloatArray = np.where(pairs > 0, changes / np.maximum(pairs, 1), np.float32(1.0))
    return share


def _every(changes: FloatArray, present: FloatArray, scaling: Scaling, step: float) -> FloatArray:
    """Seconds between two new values at a typical entity, (metrics, 1); exporters differ."""
    share = np.median(changes * present, axis=1, keepdims=True)
    every = step / np.clip(share, 1 / SLOWEST_SCRAPE, 1.0)
    every[scaling.abnormal] = step
    return np.asarray(every, dtype=np.float32)


def _wide(column: FloatArray, like: FloatArray) -> FloatArray:
    return np.broadcast_to(column, like.shape)


def _smoothed(
    apart: Sequence[FloatArray],
    present: FloatArray,
    noisiness: FloatArray,
    peers: Peers,
    steps: float,
) -> Smoothed:
    """The mean that a warm-up leaves behind, and its usual variance; `steps` are samples over its
    time constant.

    A long mean is seen only a few times in a warm-up, so its own variance is pooled with the
    peers', and never less than the peers' times how much noisier than they the cell's samples are.
    """
    gain, gaps = np.float32(1 - np.exp(-steps)), bool(present.min() < len(apart))
    mean = np.zeros_like(apart[0])
    squares = np.zeros_like(mean)
    limit = np.full_like(mean, np.inf)
    for number, tick in enumerate(apart):
        change = tick - mean
        change *= gain
        if gaps:
            change[np.isnan(change)] = 0.0
        mean += change
        if number % _LIMIT_EVERY == 0:
            limit = np.maximum(9 * np.square(_wide(peers.deviation(mean), mean)), _TINY_VARIANCE)
        square = np.square(mean, out=change)
        squares += np.minimum(square, limit, out=square)
    own: FloatArray = (squares / np.maximum(present, 1)).astype(np.float32)
    pooled = _typical(own, peers)
    looks = present * np.float32(steps / 2)
    variance = (looks * own + POOLED_LOOKS * pooled) / (looks + POOLED_LOOKS)
    variance = np.maximum(variance, pooled * noisiness)
    variance = np.maximum(variance, _TINY_VARIANCE).astype(np.float32)
    usual = np.sqrt(variance)
    return Smoothed(
        mean=mean,
        variance=variance,
        usual=usual,
        edge=10 * usual,
        run=np.zeros_like(mean),
        fresh=np.zeros_like(mean),
        tail=np.zeros((len(mean), 1), np.float32),
    )


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


def _limit(apart: Sequence[FloatArray], peers: Peers) -> None:
    """Cut distances off far beyond what is typical, in place, so that a glitch leaves no trace."""
    some = apart[::_LIMIT_EVERY]
    typical = [np.square(_wide(peers.deviation(tick), tick)) for tick in some]
    present = np.maximum(np.sum([np.isfinite(tick) for tick in typical], axis=0), 1)
    usual = np.sum([np.nan_to_num(tick) for tick in typical], axis=0) / present
    reach = (GLITCH * np.sqrt(np.maximum(usual, _TINY_VARIANCE))).astype(np.float32)
    for tick in apart:
        np.clip(tick, -reach, reach, out=tick)


def _noisiness(apart: Sequence[FloatArray], present: FloatArray, peers: Peers) -> FloatArray:
    """Each cell's variance between samples over its peers' typical one, (metrics, entities)."""
    square, gaps = np.zeros_like(apart[0]), bool(present.min() < len(apart))
    for tick in apart:
        square += np.nan_to_num(np.square(tick)) if gaps else np.square(tick)
    square /= np.maximum(present, 1)
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
    return Common(
        level=level,
        mean=mean,
        variance=variance,
        run=np.zeros_like(mean),
        stirred=np.full_like(mean, -np.inf),
        drift=np.zeros_like(mean),
        last=np.zeros_like(mean),
    )


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
