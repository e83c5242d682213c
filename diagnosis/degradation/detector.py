"""The robust detector: each host's change against its own past, relative to its peers' change."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from diagnosis.core.metrics import FloatArray, MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.alarms import AlarmRule
from diagnosis.degradation.answers import Answer, Coverage, Judgement
from diagnosis.degradation.baseline import Pace, learn
from diagnosis.degradation.blanks import Blanks
from diagnosis.degradation.blends import NOISE_SAMPLES, blended, find_blends
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.contrast import WindowContrast
from diagnosis.degradation.coverage import coverage_of, too_few_hosts
from diagnosis.degradation.fleet_wide import note_fleet_shifts
from diagnosis.degradation.peers import in_time, peers_of, writer_of
from diagnosis.degradation.scaling import fit_scaling, scaling_of
from diagnosis.degradation.state import Panel, Watch
from diagnosis.degradation.step import Step, bound
from diagnosis.degradation.suspects import suspects_of


@dataclass(frozen=True)
class Detector:
    """Difference in differences, whitened, persistent, bounded over all tests (algorithms 3.1).

    Every cell (metric of an entity) is put on a relative scale; its usual distance to its peers is
    taken off, then what the peers do together. What is left is smoothed over `fast_s` and `slow_s`
    and measured in deviations: its own in the past, or its peers' at this moment, whichever is
    larger. A host is named when cells stay out of bounds for `hold_s` (metrics that move by nature:
    `activity_hold_s`), further than the catalogue's floor, and further than any other host.

    The shorter mean is never shorter than `fast_samples` samples. Times are seconds and hold for
    windows of `full_span_s`; shorter windows are judged at a proportionally quicker pace. `chance`
    bounds false alarms over all cells at one time, `tails` widens the bound for noise that is not
    normal.
    """

    name: str = "peer-shift"
    fast_s: float = 18.0
    fast_samples: float = 1.2
    slow_s: float = 180.0
    warmup_s: float = 600.0
    memory_s: float = 1200.0
    hold_s: float = 50.0
    activity_hold_s: float = 130.0
    full_span_s: float = 2400.0
    short_span_s: float = 600.0
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
    stall_s: float = 120.0
    settle_s: float = 25.0
    drowsy: float = 2.5
    uneven: float = 0.35
    uneven_counts: float = 1.0
    even: float = 0.05
    remembers: float = 4.0

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
        """Judge a whole window, or what follows a `state` (which it takes over).

        A window below `short_span_s` is judged by `WindowContrast`, once and as a whole.
        """
        if state is None and window.span < self.short_span_s:
            return replace(
                WindowContrast(min_hosts=self.min_hosts).judge(
                    window, placement=placement, catalogue=catalogue
                ),
                detector=self.name,
            )
        coverage = coverage_of(window)
        if state is None:
            paced = self.paced(window)
            warm = paced.warmup_samples(window)
            reason = paced.cannot_tell(window, coverage, warm)
            if reason:
                return Judgement(Answer.CANNOT_TELL, reason, coverage, detector=self.name)
            state = paced.start(_first(window, warm), placement=placement, catalogue=catalogue)
        else:
            paced, warm = self, 0
        for time, values in _ticks(window, warm, state.panel):
            paced._advance(state, time, values)
        return paced.judgement(state, coverage)

    def paced(self, window: MetricWindow) -> "Detector":
        """This detector with its times shortened for a window below `full_span_s`."""
        step = window.interval
        quicker = min(1.0, window.span / self.full_span_s)
        return replace(
            self,
            fast_s=max(self.fast_s * quicker, self.fast_samples * step, 1e-6),
            slow_s=max(self.slow_s * quicker, 8 * step, 1e-6),
            warmup_s=self.warmup_s * quicker,
            memory_s=max(self.memory_s * quicker, 20 * step, 1e-6),
            hold_s=max(self.hold_s * quicker, (2.4 if quicker == 1 else 4.9) * step),
            activity_hold_s=max(
                self.activity_hold_s * quicker, (4.4 if quicker == 1 else 5.9) * step
            ),
            rest_s=self.rest_s * quicker,
            activity_rest_s=self.activity_rest_s * quicker,
            stall_s=self.stall_s * quicker,
            settle_s=max(self.settle_s * quicker, 1.9 * step),
        )

    def warmup_samples(self, window: MetricWindow) -> int:
        """How many samples at the head of the window are the hosts' own past."""
        by_time = int(np.searchsorted(window.time, window.time[:1].sum() + self.warmup_s))
        return max(by_time, self.min_warmup_samples)

    def cannot_tell(self, window: MetricWindow, coverage: Coverage, warm: int) -> str:
        """Why this window cannot be judged; empty where it can."""
        reason = too_few_hosts(coverage.hosts_judged, self.min_hosts)
        if not reason and len(window.time) < warm + 4:
            return f"{len(window.time)} samples are too short: own past and present need {warm + 4}"
        return reason

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
        told = [known.definition(name) for name in past.metrics]
        values = past.values if peers.in_order else past.values[:, peers.order]
        values = Blanks.of(told)(values)
        plain = fit_scaling(values, told)
        few = values[:, :, :: max(1, -(-values.shape[2] // NOISE_SAMPLES))]
        blends = find_blends([plain(tick) for tick in in_time(few)], told, peers)
        definitions = blended(blends, told)
        panel = Panel(
            metrics=past.metrics,
            hosts=tuple(past.hosts[i] for i in peers.order),
            devices=tuple(past.devices[i] for i in peers.order),
            definitions=tuple(definitions),
            peers=peers,
            writer=writer_of(past.hosts, placement),
        )
        scaling = scaling_of(plain.unit, definitions, blends)
        return learn(panel, scaling, values, past.time, Pace(self.fast_s, self.slow_s))

    def advance(self, state: Watch, tick: MetricWindow) -> tuple[Watch, Judgement]:
        """Take in the samples that came since; the state is changed in place and handed back.

        Raises `ValueError` when the tick is of other metrics or entities than the state.
        """
        peers = state.panel.peers
        if tick.metrics != state.panel.metrics or len(tick.hosts) != len(peers.order):
            raise ValueError("the tick is of other metrics or hosts than the state")
        for time, values in _ticks(tick, 0, state.panel):
            if time > state.time:
                self._advance(state, time, values)
        return state, self.judgement(state, coverage_of(tick))

    def judgement(self, state: Watch, coverage: Coverage) -> Judgement:
        """The answer that the state gives now."""
        suspects = suspects_of(state)
        faulty = any(suspect.alarm_time is not None for suspect in suspects)
        return Judgement(
            answer=Answer.FAULTY if faulty else Answer.HEALTHY,
            reason="",
            coverage=coverage,
            suspects=suspects,
            fleet_wide=tuple(
                shift for shift in state.fleet_wide if shift.metric in state.panel.metrics
            ),
            detector=self.name,
        )

    @cached_property
    def _rule(self) -> AlarmRule:
        return AlarmRule(
            hold_s=self.hold_s,
            activity_hold_s=self.activity_hold_s,
        )

    def _advance(self, state: Watch, time: float, values: FloatArray) -> None:
        step = max(time - state.time, 1e-9)
        looks = max(1, round(min(time - state.start, self.memory_s) / step))
        limit = self.tails * bound(values.size, self.chance, looks)
        self._step(limit)(state, time, values)
        rule = self._rule
        shortest = rule.swift * self.hold_s
        if state.alarms or max(state.fast.run.max(), state.slow.run.max()) >= shortest:
            rule(state, limit)
        if state.ticks % 2 == 0:
            note_fleet_shifts(state, hold_s=self.hold_s)

    def _step(self, limit: float) -> Step:
        return Step(
            fast_s=self.fast_s,
            slow_s=self.slow_s,
            warmup_s=self.warmup_s,
            memory_s=self.memory_s,
            limit=limit,
            second_metric_share=self.second_metric_share,
            slow_floor_share=self.slow_floor_share,
            spike=self.spike,
            turn=self.turn,
            rest_s=self.rest_s,
            activity_rest_s=self.activity_rest_s,
            stall_s=self.stall_s,
            settle_s=self.settle_s,
            drowsy=self.drowsy,
            uneven=self.uneven,
            uneven_counts=self.uneven_counts,
            even=self.even,
            remembers=self.remembers,
        )


def _ticks(window: MetricWindow, first: int, panel: Panel) -> Iterator[tuple[float, FloatArray]]:
    ticks, peers = in_time(window.values[:, :, first:]), panel.peers
    for time, values in zip(window.time[first:].tolist(), ticks, strict=True):
        yield time, panel.blanks(values if peers.in_order else values[:, peers.order])


def _first(window: MetricWindow, samples: int) -> MetricWindow:
    return replace(window, values=window.values[:, :, :samples], time=window.time[:samples])
