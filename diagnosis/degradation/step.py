"""One tick of the robust detector: what each cell does beyond its peers, and for how long."""

from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.peers import row_median
from diagnosis.degradation.runs import cells_of, count, remember
from diagnosis.degradation.scaling import BoolArray, bad_size
from diagnosis.degradation.state import Smoothed, Watch
from diagnosis.degradation.tails import follow_tail, widening

#: Nothing counts as further away than this on the common scale (a factor of 400).
_TOP = np.float32(6.0)
#: One look at a small group's jumps counts at most this many usual jumps.
_JUMP_LIMIT = np.float32(6.0)
#: A host without a past of its own learns from samples this far away (common scale), not further.
_YOUNG_REACH = np.float32(0.5)
#: Counters of the peers that rose by this share of what matters have stirred.
_STIRRED_COUNTS = np.float32(0.4)
#: Memory that all hosts let go of like this (common scale) was held by processes that ended.
_RELEASED = np.float32(0.5)
#: Slow affairs are looked after once in so many ticks.
_TURNS = 4
#: Turns move on by one tick after so many: some series are there only at every second or fourth.
_TURNS_MOVE = 16
#: Usual variances change slowly; they are renewed once in so many ticks.
_VARIANCE_EVERY = 8
#: Of who was there for a smaller share of the time less is known: the bound is further.
_LATE_SHARE, _LATE_COMER = 0.6, np.float32(1.5)


@lru_cache(maxsize=1024)
def bound(tests: int, chance: float, looks: int | None = None) -> float:
    """The deviate that `tests` one-sided tests pass together with this chance.

    Normal where deviations are known; Student's t where they rest on `looks` samples (the first
    two terms of its Cornish-Fisher expansion).
    """
    normal = NormalDist().inv_cdf(1 - chance / max(tests, 1))
    if looks is None:
        return normal
    first = (normal**2 + 1) / (4 * looks)
    second = (5 * normal**4 + 16 * normal**2 + 3) / (96 * looks**2)
    return normal * (1 + first + second)


@lru_cache(maxsize=64)
def gain(step: float, constant: float) -> np.float32:
    """The weight of a new sample in an exponential mean of this time constant (seconds)."""
    return np.float32(1 - np.exp(-step / constant))


def _number(state: Watch) -> int:
    """The number of the tick by which things are done in turn."""
    return state.ticks + state.ticks // _TURNS_MOVE


@dataclass(frozen=True)
class Step:
    """The detector's settings for one tick; see `Detector`, whose names these are."""

    fast_s: float
    slow_s: float
    warmup_s: float
    memory_s: float
    limit: float
    second_metric_share: float
    slow_floor_share: float
    spike: float
    turn: float
    rest_s: float
    activity_rest_s: float
    stall_s: float
    settle_s: float
    drowsy: float
    uneven: float
    uneven_counts: float
    even: float
    remembers: float

    def __call__(self, state: Watch, time: float, values: FloatArray) -> None:
        """Take in one sample of all cells, (metrics, entities), in the order of the peers."""
        state.step = time - state.time
        apart, missing = self._apart(state, values, time)
        awake = self._awake(state, time)
        asleep = awake[:, 0] == 0
        if bool(asleep.any()):
            apart[asleep] = 0.0
        self._follow(state.fast, apart, missing, gain(state.step, self.fast_s))
        self._follow(state.slow, apart, missing, gain(state.step, self.slow_s))
        self._do_in_turn(state, apart, missing, awake)
        self._count(state, state.fast, missing, state.step, awake, apart)
        state.recent.note_changes(time - state.start)
        state.time = time
        state.ticks += 1

    def _do_in_turn(
        self, state: Watch, apart: FloatArray, missing: BoolArray | None, awake: FloatArray
    ) -> None:
        """What need not be done at every tick: one thing at a time, all of it in four."""
        turn = _number(state) % _TURNS
        long = np.float32(_TURNS * state.step) * (awake == 1)
        if turn % 2 == 0:
            self._measure(state, state.fast, awake)
        elif turn == 1:
            self._measure(state, state.slow, awake)
            self._count(state, state.slow, missing, _TURNS * state.step, awake)
        else:
            remember(state, awake[:, 0] == 0, _TURNS * state.step)
            at_home = np.abs(state.common.mean) < self.turn
            self._learn(state, apart, missing, long * at_home)

    def _apart(
        self, state: Watch, values: FloatArray, time: float
    ) -> tuple[FloatArray, BoolArray | None]:
        """Each cell's distance to its peers beyond the usual one; where nothing is known of it."""
        calm = state.recent.calmed(state.scaling(values), state.scaling.abnormal[:, 0])
        apart = calm - state.offset
        common = state.panel.peers.median(apart)
        missing = np.isnan(apart) if bool(np.isnan(apart.min())) else None
        if missing is not None:
            at_home = np.abs(state.common.mean) < self.turn
            fresh = np.isnan(state.offset) & np.isfinite(calm)
            fresh &= at_home & (self._awake(state, time) == 1)
            state.offset[fresh] = (calm - common)[fresh]
            apart[fresh] = np.broadcast_to(common, apart.shape)[fresh]
        apart -= common
        self._follow_peers(state, common, time)
        self._note_jumps(state, apart)
        if missing is not None:
            missing = np.isnan(apart)
            apart[missing] = 0.0
        state.recent.note_distances(apart, missing)
        self._cut_spikes(state, apart)
        return apart, missing

    def _cut_spikes(self, state: Watch, apart: FloatArray) -> None:
        """Nothing leaves its mean by more than this at once; few rows have anything that does."""
        mean, usual = state.fast.mean, state.fast.usual
        away = apart - mean
        np.abs(away, out=away)
        least = self.spike * usual.min(axis=1) + state.scaling.floor[:, 0]
        for row in np.flatnonzero(away.max(axis=1) > np.minimum(least, _TOP)).tolist():
            edge = np.minimum(self.spike * usual[row] + state.scaling.floor[row], _TOP)
            if state.youngest < self.warmup_s:
                edge[self._young(state)[row]] = _TOP
            np.minimum(apart[row], mean[row] + edge, out=apart[row])
            np.maximum(apart[row], mean[row] - edge, out=apart[row])

    def _follow_peers(self, state: Watch, common: FloatArray, time: float) -> None:
        """Keep up with what the peers do together, and notice when they turn."""
        peers = state.common
        away = common - peers.level
        if bool(np.isnan(away.min())):
            away = np.nan_to_num(away)
        least = np.maximum(self.turn, 10 * np.sqrt(peers.variance))
        gauges = ~state.scaling.abnormal
        if bool(((np.abs(away - peers.last) > self.turn / 2) & gauges).any()):
            state.moved = time
        peers.last = away
        change = away - peers.mean
        if bool(((np.abs(change) > least) & gauges).any()):
            if time - state.turned > self.rest_s:
                state.turning = time
            state.turned = time
        if bool(((np.abs(away) > least) & gauges).any()):
            if time - state.elsewhere > self.rest_s:
                state.left = time
            state.elsewhere = time
        peers.mean += gain(state.step, self.fast_s) * change
        matters = np.where(gauges, np.float32(1.0), _STIRRED_COUNTS) * state.scaling.floor
        np.copyto(peers.stirred, np.float32(time - state.start), where=np.abs(peers.mean) > matters)
        released = state.scaling.memory & (away < -_RELEASED)
        if bool(released.any()):
            self._begin_anew(state, released)
        pull = np.maximum(np.minimum(away, np.float32(self.turn)), np.float32(-self.turn))
        pull *= gain(state.step, self.memory_s)
        peers.level += pull
        peers.drift += pull - gain(state.step, self.remembers * self.memory_s) * peers.drift

    def _begin_anew(self, state: Watch, released: BoolArray) -> None:
        """The processes of these cells ended: what the next ones hold has a past of its own."""
        state.age[np.broadcast_to(released, state.age.shape)] = 0.0
        state.youngest = 0.0

    def _note_jumps(self, state: Watch, apart: FloatArray) -> None:
        """How far cells of a small group jump; its spread at one moment says too little."""
        jumps = state.jumps
        if jumps is None:
            return
        size = row_median(np.abs(apart - jumps.last))[:, None]
        size = np.where(np.isnan(size), jumps.mean, np.minimum(size, _JUMP_LIMIT * jumps.usual))
        jumps.mean += gain(state.step, 2 * self.fast_s) * (size - jumps.mean)
        jumps.last = np.where(np.isnan(apart), jumps.last, apart)

    def _awake(self, state: Watch, time: float) -> FloatArray:
        """1 for metrics that are judged now, 0 for those that a turn of the fleet disturbs.

        What is not judged counts as being with its peers: old evidence fades meanwhile. Between
        stands what is judged by a bound that is so many times as far: the fleet has turned, and
        stands still elsewhere.
        """
        awake = np.ones_like(state.scaling.floor)
        still_leaving = time - state.left < self.stall_s and time == state.elsewhere
        if time - state.turned < self.rest_s or still_leaving:
            settled = time - state.moved >= self.settle_s
            awake[~state.scaling.abnormal] = 1 / self.drowsy if settled else 0.0
            state.woke = time
        if time - state.turned < self.activity_rest_s:
            awake[state.scaling.activity] = 0.0
        return awake

    def _follow(
        self, smooth: Smoothed, apart: FloatArray, missing: BoolArray | None, weight: np.float32
    ) -> None:
        change = apart - smooth.mean
        change *= weight
        if missing is not None:
            change[missing] = 0.0
        smooth.mean += change

    def _measure(self, state: Watch, smooth: Smoothed, awake: FloatArray) -> None:
        """Renew the deviations and bounds of one of the two means; they take turns."""
        if _number(state) % _VARIANCE_EVERY < 2:
            self._learn_variance(state, smooth, awake)
        spread = np.fmax(state.panel.peers.deviation(smooth.mean), state.scaling.least)
        np.maximum(smooth.variance, np.square(spread), out=smooth.usual)
        np.sqrt(smooth.usual, out=smooth.usual)
        wider = widening(smooth, self.limit)
        if state.jumps is not None:
            wider = wider * np.maximum(state.jumps.mean / state.jumps.usual, np.float32(1.0))
        floor = state.scaling.floor
        if smooth is state.slow:
            floor = floor * np.where(state.scaling.abnormal, self.slow_floor_share, 1.0)
        share = np.where(state.scaling.abnormal, self.uneven_counts, self.uneven)
        went = np.maximum(np.abs(state.common.mean), np.abs(state.common.mean + state.common.drift))
        uneven = share * np.clip(went - self.even, 0, 1)
        smooth.usual *= wider
        bar = np.float32(self.second_metric_share * self.limit)
        np.multiply(smooth.usual, bar, out=smooth.edge)
        np.maximum(smooth.edge, (floor + uneven).astype(np.float32), out=smooth.edge)

    def _learn_variance(self, state: Watch, smooth: Smoothed, awake: FloatArray) -> None:
        """Only what is within three usual deviations says how much is usual."""
        square = np.square(smooth.mean)
        unusual = cells_of(square >= 9 * smooth.variance)
        square -= smooth.variance
        square *= gain(_VARIANCE_EVERY * state.step, self.memory_s) * (awake == 1)
        square[unusual] = 0.0
        smooth.variance += square
        fade = gain(_VARIANCE_EVERY * state.step, 2 * self.memory_s)
        follow_tail(smooth, limit=self.limit, fade=fade)

    def _count(
        self,
        state: Watch,
        smooth: Smoothed,
        missing: BoolArray | None,
        seconds: float,
        awake: FloatArray,
        apart: FloatArray | None = None,
    ) -> None:
        """Count the seconds for which cells are seen out of bounds without a break."""
        hot = bad_size(smooth.mean, state.scaling) > smooth.edge
        if state.youngest < self.warmup_s:
            hot &= ~self._young(state)
        settled = np.float32(min(self.memory_s, _LATE_SHARE * (state.time - state.start)))
        if state.youngest < settled:
            hot &= (state.age >= settled) | (np.abs(smooth.mean) > _LATE_COMER * smooth.edge)
        if bool((awake < 1).any()):
            hot &= bad_size(smooth.mean, state.scaling) * awake > smooth.edge
        count(state, smooth, hot, missing, seconds, apart)

    def _young(self, state: Watch) -> BoolArray:
        """Cells whose own past is still too short to be judged by."""
        return state.age < np.float32(0.8 * self.warmup_s)

    def _learn(
        self, state: Watch, apart: FloatArray, missing: BoolArray | None, step: FloatArray
    ) -> None:
        """Let offsets follow slowly; what is far away pulls no harder than what is near."""
        reach = np.sqrt(state.fast.variance)
        reach *= np.float32(5.0)
        if state.youngest < self.warmup_s:
            reach[self._young(state)] += _YOUNG_REACH
        pull = np.minimum(apart, reach)
        np.maximum(pull, -reach, out=pull)
        if state.youngest < self.memory_s:
            pull *= step / np.clip(state.age + step, np.float32(1e-6), np.float32(self.memory_s))
        else:
            pull *= step / np.float32(self.memory_s)
        if missing is None:
            state.age += step
        else:
            pull[missing] = 0.0
            state.age += step * ~missing
        state.offset += pull
        state.youngest = float(state.age.min())
