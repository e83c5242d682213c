"""The robust detector: each host's change against its own past, relative to its peers' change."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from diagnosis.core.metrics import FloatArray, MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.alarms import AlarmRule
from diagnosis.degradation.answers import Answer, Coverage, Judgement
from diagnosis.degradation.baseline import Pace, learn
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.fleet_wide import note_fleet_shifts
from diagnosis.degradation.peers import peers_of, row_median
from diagnosis.degradation.scaling import bad_size, fit_scaling
from diagnosis.degradation.state import Panel, Smoothed, Watch

#: Samples are taken out of a window in blocks of this many, which the memory likes better.
_BLOCK = 16
_TOP = np.float32(6.0)


@lru_cache(maxsize=256)
def bound(tests: int, chance: float) -> float:
    """The normal deviate that `tests` one-sided tests pass together with this chance."""
    return NormalDist().inv_cdf(1 - chance / max(tests, 1))


@dataclass(frozen=True)
class Detector:
    """Difference in differences, whitened, persistent, bounded over all tests (algorithms 3.1).

    Every cell (metric of an entity) is put on a relative scale; its usual distance to its peers is
    taken off, then what the peers do together. What is left is smoothed over `fast_s` and `slow_s`
    and measured in deviations: its own in the past, or its peers' at this moment, whichever is
    larger. A host is named when cells stay out of bounds for `hold_s` (metrics that move by nature:
    `activity_hold_s`), further than the catalogue's floor, and further than any other host.

    Times are seconds and hold for windows of `full_span_s`; shorter windows are judged at a
    proportionally quicker pace. `chance` bounds false alarms over all cells at one time, `tails`
    widens the bound for noise that is not normal.
    """

    name: str = "peer-shift"
    fast_s: float = 30.0
    slow_s: float = 240.0
    warmup_s: float = 600.0
    memory_s: float = 1200.0
    hold_s: float = 50.0
    activity_hold_s: float = 180.0
    full_span_s: float = 2400.0
    min_warmup_samples: int = 16
    min_hosts: int = 3
    chance: float = 1e-4
    tails: float = 1.25
    second_metric_share: float = 0.7
    slow_floor_share: float = 0.6
    spike: float = 15.0
    turn: float = 0.2
    rest_s: float = 45.0
    activity_rest_s: float = 180.0
    uneven: float = 0.25

    def __call__(self, window: MetricWindow) -> Judgement:
        return self.judge(window)

    def judge(
        self,
        window: MetricWindow,
        *,
        placement: Placement | None = None,
        catalogue: Catalogue | None = None,
        state: Watch | None = None,
    ) -> Judgement:
        """Judge a whole window, or what follows a `state` (which it takes over)."""
        if state is None:
            paced = self.paced(window)
            warm = paced.warmup_samples(window)
            reason = paced.cannot_tell(window, warm)
            if reason:
                return Judgement(
                    Answer.CANNOT_TELL, reason, coverage_of(window), detector=self.name
                )
            state = paced.start(_first(window, warm), placement=placement, catalogue=catalogue)
        else:
            paced, warm = self, 0
        for time, values in _ticks(window, warm, state.panel.peers.order):
            paced._advance(state, time, values)
        return paced.judgement(state, coverage_of(window))

    def paced(self, window: MetricWindow) -> "Detector":
        """This detector with its times shortened for a window below `full_span_s`."""
        step = window.interval
        quicker = min(1.0, window.span / self.full_span_s)
        return replace(
            self,
            fast_s=max(self.fast_s * quicker, 2 * step, 1e-6),
            slow_s=max(self.slow_s * quicker, 8 * step, 1e-6),
            warmup_s=self.warmup_s * quicker,
            memory_s=max(self.memory_s * quicker, 20 * step, 1e-6),
            hold_s=max(self.hold_s * quicker, 3.9 * step),
            activity_hold_s=max(self.activity_hold_s * quicker, 6.9 * step),
            rest_s=self.rest_s * quicker,
            activity_rest_s=self.activity_rest_s * quicker,
        )

    def warmup_samples(self, window: MetricWindow) -> int:
        """How many samples at the head of the window are the hosts' own past."""
        by_time = int(np.searchsorted(window.time, window.time[:1].sum() + self.warmup_s))
        return max(by_time, self.min_warmup_samples)

    def cannot_tell(self, window: MetricWindow, warm: int) -> str:
        """Why this window cannot be judged; empty where it can."""
        answering = len({window.hosts[i] for i in np.flatnonzero(_present(window))})
        if answering == 0:
            return "no host answered: there is not one sample"
        if answering < self.min_hosts:
            return f"{answering} hosts answered; at least {self.min_hosts} are needed as peers"
        if len(window.time) < warm + 4:
            return f"{len(window.time)} samples are too short: own past and present need {warm + 4}"
        return ""

    def start(
        self,
        past: MetricWindow,
        *,
        placement: Placement | None = None,
        catalogue: Catalogue | None = None,
    ) -> Watch:
        """A state that has learned the hosts' own past from a window of it."""
        known = catalogue or Catalogue.default()
        peers = peers_of(past.hosts, past.devices, placement)
        panel = Panel(
            metrics=past.metrics,
            hosts=tuple(past.hosts[i] for i in peers.order),
            devices=tuple(past.devices[i] for i in peers.order),
            definitions=tuple(known.definition(name) for name in past.metrics),
            peers=peers,
        )
        values = past.values[:, peers.order]
        scaling = fit_scaling(values, panel.definitions)
        return learn(panel, scaling, values, past.time, Pace(self.fast_s, self.slow_s, past.span))

    def advance(self, state: Watch, tick: MetricWindow) -> tuple[Watch, Judgement]:
        """Take in the samples that came since; the state is changed in place and handed back.

        Raises `ValueError` when the tick is of other metrics or entities than the state.
        """
        order = state.panel.peers.order
        if tick.metrics != state.panel.metrics or len(tick.hosts) != len(order):
            raise ValueError("the tick is of other metrics or hosts than the state")
        for time, values in _ticks(tick, 0, order):
            if time > state.time:
                self._advance(state, time, values)
        return state, self.judgement(state, coverage_of(tick))

    def judgement(self, state: Watch, coverage: Coverage) -> Judgement:
        """The answer that the state gives now."""
        suspects = self._rule.suspects(state)
        faulty = any(suspect.alarm_time is not None for suspect in suspects)
        return Judgement(
            answer=Answer.FAULTY if faulty else Answer.HEALTHY,
            reason="",
            coverage=coverage,
            suspects=suspects,
            fleet_wide=tuple(state.fleet_wide),
            detector=self.name,
        )

    @property
    def _rule(self) -> AlarmRule:
        return AlarmRule(
            hold_s=self.hold_s,
            activity_hold_s=self.activity_hold_s,
            second_metric_share=self.second_metric_share,
        )

    def _advance(self, state: Watch, time: float, values: FloatArray) -> None:
        step = np.float32(time - state.time)
        apart, common = self._apart(state, values)
        missing = np.isnan(apart)
        self._follow_peers(state, common, step, time)
        awake = self._awake(state, time)
        limit = np.float32(self.tails * bound(apart.size, self.chance))
        uneven = np.float32(self.uneven) * np.minimum(np.abs(state.common.mean), 1)
        floor = np.maximum(state.scaling.floor, uneven)
        restless = self._restless(state, apart, step)
        lower = np.where(state.scaling.abnormal, np.float32(self.slow_floor_share) * floor, floor)
        for smooth, constant, least in (
            (state.fast, self.fast_s, floor),
            (state.slow, self.slow_s, lower),
        ):
            self._smooth(
                state, smooth, apart, missing, awake, step, constant, limit, least, restless
            )
        self._learn(state, apart, missing, awake, step)
        state.time, state.step = time, float(step)
        if max(state.fast.run.max(), state.slow.run.max()) >= self.hold_s or state.alarms:
            self._rule(state, float(limit))
        note_fleet_shifts(state, hold_s=self.hold_s)

    def _apart(self, state: Watch, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Each cell's distance to its peers beyond the usual one, and the peers' own position."""
        calm = state.recent.calmed(state.scaling(values), state.scaling.abnormal[:, 0])
        if state.seen is not None:
            state.seen += ~np.isnan(calm)
        moved = calm - state.offset
        common = state.panel.peers.median(moved)
        if bool(np.isnan(state.offset).any()):
            self._welcome(state, calm, common)
            moved = calm - state.offset
        moved -= common
        edge = np.minimum(self.spike * state.fast.usual + state.scaling.floor, _TOP)
        np.minimum(moved, state.fast.mean + edge, out=moved)
        np.maximum(moved, state.fast.mean - edge, out=moved)
        return moved, common

    def _welcome(self, state: Watch, calm: FloatArray, common: FloatArray) -> None:
        """Cells that answer for the first time begin at their present distance to the peers."""
        fresh = np.isnan(state.offset) & np.isfinite(calm)
        state.offset[fresh] = (calm - common)[fresh]

    def _follow_peers(self, state: Watch, common: FloatArray, step: float, time: float) -> None:
        peers = state.common
        away = common - peers.level
        change = np.float32(1 - np.exp(-step / self.fast_s)) * (away - peers.mean)
        np.nan_to_num(change, copy=False)
        peers.mean += change
        slow = np.float32(1 - np.exp(-step / self.memory_s)) * np.clip(away, -0.1, 0.1)
        peers.level += np.nan_to_num(slow)
        turn = np.abs(away - peers.mean) > np.maximum(self.turn, 10 * np.sqrt(peers.variance))
        if bool(turn[~state.scaling.abnormal[:, 0]].any()):
            state.turned = time

    def _awake(self, state: Watch, time: float) -> FloatArray:
        """1 for metrics that are judged now, 0 for those that a turn of the fleet disturbs."""
        awake = np.ones_like(state.scaling.floor)
        if time - state.turned < self.activity_rest_s:
            awake[state.scaling.activity] = 0.0
        if time - state.turned < self.rest_s:
            awake[~state.scaling.abnormal] = 0.0
        return awake

    def _restless(self, state: Watch, apart: FloatArray, step: float) -> FloatArray | None:
        """How much livelier a small group is now than usual, (metrics, 1), at least 1.

        Over few hosts the spread at one moment says little, their jumps over a minute say more.
        """
        if state.jumps is None:
            return None
        size = row_median(np.abs(apart - state.jumps.last))[:, None]
        known = ~np.isnan(size)
        gain = np.float32(1 - np.exp(-step / (2 * self.fast_s)))
        state.jumps.mean[known] += gain * (size - state.jumps.mean)[known]
        state.jumps.last = np.where(np.isnan(apart), state.jumps.last, apart)
        return np.clip(state.jumps.mean / state.jumps.usual, 1.0, 8.0)

    def _smooth(
        self,
        state: Watch,
        smooth: Smoothed,
        apart: FloatArray,
        missing: FloatArray,
        awake: FloatArray,
        step: float,
        constant: float,
        limit: np.float32,
        floor: FloatArray,
        restless: FloatArray | None,
    ) -> None:
        gain = np.float32(1 - np.exp(-step / constant)) * awake
        change = apart - smooth.mean
        change *= gain
        change[missing] = 0.0
        smooth.mean += change
        spread = state.panel.peers.deviation(smooth.mean)
        usual = np.sqrt(np.maximum(smooth.variance, np.square(spread)))
        if restless is not None:
            usual *= restless
        smooth.usual = usual
        away = bad_size(smooth.mean, state.scaling)
        sides = np.float32(self.second_metric_share) * limit
        hot = away > np.maximum(sides * usual, floor)
        if state.age.min() < self.warmup_s:
            hot &= state.age >= 0.8 * self.warmup_s
        smooth.run += step * awake
        smooth.run *= hot
        calm = np.abs(smooth.mean) < 3 * usual
        forget = np.float32(1 - np.exp(-step / self.memory_s))
        smooth.variance += (forget * awake * calm) * (np.square(smooth.mean) - smooth.variance)

    def _learn(
        self, state: Watch, apart: FloatArray, missing: FloatArray, awake: FloatArray, step: float
    ) -> None:
        """Let offsets follow slowly; what is far away pulls no harder than what is near."""
        edge = 5 * np.sqrt(state.fast.variance)
        pull = np.minimum(np.maximum(apart, -edge), edge)
        young = state.age < self.memory_s
        gain = (
            step / np.maximum(np.minimum(state.age, self.memory_s), step)
            if young.any()
            else (step / self.memory_s)
        )
        change = pull * gain * awake
        change[missing] = 0.0
        state.offset += change
        state.age += step * ~missing


def _ticks(
    window: MetricWindow, first: int, order: FloatArray
) -> Iterator[tuple[float, FloatArray]]:
    sorted_already = bool(np.array_equal(order, np.arange(len(order))))
    for start in range(first, len(window.time), _BLOCK):
        part = window.values[:, :, start : start + _BLOCK]
        block = np.ascontiguousarray(part.transpose(2, 0, 1))
        if not sorted_already:
            block = block[:, :, order]
        for offset, values in enumerate(block):
            yield float(window.time[start + offset]), values


def _first(window: MetricWindow, samples: int) -> MetricWindow:
    return replace(window, values=window.values[:, :, :samples], time=window.time[:samples])


def _present(window: MetricWindow) -> FloatArray:
    return np.isfinite(window.values).any(axis=(0, 2))


def coverage_of(window: MetricWindow) -> Coverage:
    """Which hosts and metrics answered, and how much of the grid is filled."""
    present = np.isfinite(window.values)
    entities = present.any(axis=(0, 2))
    answering = {window.hosts[i] for i in np.flatnonzero(entities)}
    return Coverage(
        hosts=len(window.host_names),
        hosts_judged=len(answering),
        metrics=len(window.metrics),
        metrics_judged=int(present.any(axis=(1, 2)).sum()),
        samples_present=float(present.mean()) if present.size else 0.0,
        silent_hosts=tuple(host for host in window.host_names if host not in answering),
    )
