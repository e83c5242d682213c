"""The paper's rule: beyond mean ± 2 deviations of all hosts, for ten minutes (NSDI '25)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from diagnosis.core.metrics import FloatArray, MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.answers import Answer, HostSuspect, Judgement, MetricShift
from diagnosis.degradation.catalogue import Catalogue, Direction, MetricDefinition
from diagnosis.degradation.coverage import coverage_of
from diagnosis.degradation.scaling import BoolArray


@dataclass(frozen=True)
class PaperRule:
    """Basic correlating diagnosis of Aegis: a host is an outlier beyond `λ ± deviations · δ`.

    λ and δ are mean and deviation over all hosts of a metric at one time; only the metric's bad
    direction counts, and only what lasts `persistence_s` seconds. Kept for comparison: below six
    hosts it can never speak, and roles, own past and the number of tests do not enter.
    """

    name: str = "paper"
    deviations: float = 2.0
    persistence_s: float = 600.0
    min_hosts: int = 3

    def __call__(self, window: MetricWindow) -> Judgement:
        return self.judge(window)

    def judge(
        self,
        window: MetricWindow,
        *,
        placement: Placement | None = None,  # the plain rule knows no roles
        catalogue: Catalogue | None = None,
    ) -> Judgement:
        """Judge a window of shape (metrics, hosts, samples)."""
        known = catalogue or Catalogue.default()
        coverage = coverage_of(window)
        needed = int(np.ceil(self.persistence_s / window.interval)) if window.interval else 0
        reason = self._cannot_tell(window, needed, coverage.hosts_judged)
        if reason:
            return Judgement(Answer.CANNOT_TELL, reason, coverage, detector=self.name)
        found: dict[str, list[tuple[float, MetricShift]]] = {}
        for index, metric in enumerate(window.metrics):
            definition = known.definition(metric)
            for host, time, shift in self._outliers(window, index, definition, needed):
                found.setdefault(host, []).append((time, shift))
        suspects = sorted(
            (self._suspect(host, shifts) for host, shifts in found.items()),
            key=lambda suspect: -suspect.score,
        )
        answer = Answer.FAULTY if suspects else Answer.HEALTHY
        return Judgement(answer, "", coverage, tuple(suspects), detector=self.name)

    def _cannot_tell(self, window: MetricWindow, needed: int, answering: int) -> str:
        if answering == 0:
            return "no host answered: there is not one sample"
        if answering < self.min_hosts:
            return f"{answering} hosts answered; at least {self.min_hosts} are needed as peers"
        if needed == 0 or len(window.time) < needed:
            return f"the window is shorter than the {self.persistence_s:.0f} s that must last"
        return ""

    def _outliers(
        self, window: MetricWindow, index: int, definition: MetricDefinition, needed: int
    ) -> Iterator[tuple[str, float, MetricShift]]:
        values = window.values[index]
        mean, deviation = _mean_and_deviation(values)
        reach = self.deviations * deviation
        sides = []
        if definition.bad is not Direction.LOW:
            sides.append(values > mean + reach)
        if definition.bad is not Direction.HIGH:
            sides.append(values < mean - reach)
        for outside in sides:
            for entity in np.flatnonzero(_may_last(outside, needed)):
                end = _end_of_first_run(outside[entity], needed)
                if end is None:
                    continue
                spread = max(float(deviation[end]), 1e-12)
                value, peers = float(values[entity, end]), float(mean[end])
                shift = MetricShift(
                    metric=window.metrics[index],
                    deviations=(value - peers) / spread,
                    value=value,
                    usual=float(values[entity, 0]),
                    peers=peers,
                    device=window.devices[entity],
                    implicates=definition.implicates,
                )
                yield window.hosts[entity], float(window.time[end]), shift

    def _suspect(self, host: str, found: list[tuple[float, MetricShift]]) -> HostSuspect:
        alarm = min(time for time, _ in found)
        strength = sum(abs(shift.deviations) for _, shift in found)
        return HostSuspect(
            host=host,
            score=float(1 - np.exp(-strength / 4)),
            onset=alarm - self.persistence_s,
            alarm_time=alarm,
            metrics=tuple(shift for _, shift in found),
        )


def _mean_and_deviation(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Over hosts, shape (samples,); missing samples do not count."""
    mean = values.mean(axis=0)
    if not np.isnan(mean.sum()):
        centred = values - mean
        return mean, np.sqrt(np.einsum("hs,hs->s", centred, centred) / len(values))
    present = np.isfinite(values)
    count = np.maximum(present.sum(axis=0), 1)
    mean = np.where(present, values, 0).sum(axis=0) / count
    square = np.where(present, np.square(values - mean), 0).sum(axis=0) / count
    return mean.astype(np.float32), np.sqrt(square).astype(np.float32)


def _may_last(outside: BoolArray, needed: int) -> BoolArray:
    """Entities with a block of half the needed length wholly outside: a longer run holds one."""
    half = max(1, needed // 2)
    blocks = outside.shape[1] // half
    whole = outside[:, : blocks * half].reshape(len(outside), blocks, half)
    lasting: BoolArray = np.any(np.all(whole, axis=2), axis=1)
    return lasting


def _end_of_first_run(outside: BoolArray, needed: int) -> int | None:
    """The sample at which the first unbroken run reaches the needed length."""
    index = np.arange(len(outside))
    last_inside = np.maximum.accumulate(np.where(outside, -1, index))
    long_enough = np.flatnonzero(outside & (index - last_inside >= needed))
    return int(long_enough[0]) if long_enough.size else None
