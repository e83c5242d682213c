"""How right a detector is on simulated fleets: precision, recall, top-1, false alarms, delay."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from time import process_time
from typing import Protocol

import numpy as np

from benchmarks.rough_fleets import RoughSettings, rough_case
from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.answers import HostSuspect, Judgement
from diagnosis.simulator.fleet import simulate_fleet
from diagnosis.simulator.fleet_faults import FAULTS


class Truth(Protocol):
    """What was done to which host and when (seconds); None throughout where nothing was."""

    @property
    def kind(self) -> str | None: ...
    @property
    def host(self) -> str | None: ...
    @property
    def onset(self) -> float | None: ...


Case = tuple[MetricWindow, Truth, Placement]
Judge = Callable[[MetricWindow, Placement], Judgement]

#: Thresholds were frozen on seeds below these (docs/degradation.md), which are scored.
FIRST_SCORED_SEED = 1000


@dataclass
class Score:
    """Counts over windows; a host counts as named when it has an alarm time."""

    right: int = 0
    wrong: int = 0
    faults: int = 0
    first: int = 0
    healthy: int = 0
    healthy_alarmed: int = 0
    host_hours: float = 0.0
    seconds: float = 0.0
    delays: list[float] = field(default_factory=list)
    kinds: dict[str, list[int]] = field(default_factory=dict)

    def add(self, window: MetricWindow, truth: Truth, judgement: Judgement) -> None:
        named = [suspect for suspect in judgement.suspects if suspect.alarm_time is not None]
        self.host_hours += len(window.hosts) * window.span / 3600
        self.wrong += sum(suspect.host != truth.host for suspect in named)
        if truth.kind is None or truth.onset is None:
            self.healthy += 1
            self.healthy_alarmed += bool(named)
            return
        self.faults += 1
        self.first += bool(judgement.suspects) and judgement.suspects[0].host == truth.host
        hits = [suspect for suspect in named if suspect.host == truth.host]
        found, of = self.kinds.get(truth.kind, [0, 0])
        self.kinds[truth.kind] = [found + bool(hits), of + 1]
        self._add_hit(hits, truth.onset)

    def _add_hit(self, hits: list[HostSuspect], onset: float) -> None:
        if hits and hits[0].alarm_time is not None:
            self.right += 1
            self.delays.append(hits[0].alarm_time - onset)

    @property
    def precision(self) -> float:
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.faults, 1)

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def top1(self) -> float:
        return self.first / max(self.faults, 1)

    @property
    def false_alarms(self) -> float:
        """Hosts named wrongly per 1,000 host-hours."""
        return 1000 * self.wrong / max(self.host_hours, 1e-9)

    def delay(self, share: float) -> float | None:
        """This quantile of seconds from onset to alarm."""
        return float(np.quantile(self.delays, share)) if self.delays else None


def fleets(
    *, hosts: int, per_kind: int, healthy: int, first_seed: int = FIRST_SCORED_SEED
) -> Iterator[Case]:
    """`per_kind` windows of every fault kind, then healthy ones, each with its own seed."""
    seed = first_seed
    for _ in range(per_kind):
        for kind in FAULTS:
            yield simulate_fleet(seed, fault=kind, hosts=hosts)
            seed += 1
    for _ in range(healthy):
        yield simulate_fleet(seed, hosts=hosts)
        seed += 1


def rough_fleets(
    *, per_kind: int, healthy: int, hosts: int = 64, first_seed: int = FIRST_SCORED_SEED
) -> Iterator[Case]:
    """The same of rough fleets, which another generator makes."""
    seed = first_seed
    for fault in [*FAULTS] * per_kind + [None] * healthy:
        yield rough_case(seed, fault, RoughSettings(hosts=hosts))
        seed += 1


def score(cases: Iterable[Case], judges: dict[str, Judge]) -> dict[str, Score]:
    """The score of each judge over the same windows."""
    scores = {name: Score() for name in judges}
    for window, truth, placement in cases:
        for name, judge in judges.items():
            started = process_time()
            judgement = judge(window, placement)
            scores[name].seconds += process_time() - started
            scores[name].add(window, truth, judgement)
    return scores
