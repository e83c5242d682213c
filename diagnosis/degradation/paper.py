"""The paper's rule: beyond mean ± 2 deviations of all hosts, for ten minutes (NSDI '25)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import FloatArray, MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.answers import Answer, HostSuspect, Judgement, MetricShift
from diagnosis.degradation.catalogue import Catalogue, Direction, MetricDefinition
from diagnosis.degradation.coverage import coverage_of, full_coverage, too_few_hosts
from diagnosis.degradation.scaling import BoolArray

#: So many hosts are added up at a time in single precision, the rest in double.
_ROWS = 128
#: Below this share of the mean's square a difference of squares has too few digits left.
_CANCELLED = 1e-4


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
        spreads = [_mean_and_deviation(values) for values in window.values]
        whole = bool(spreads) and all(spread.whole for spread in spreads)
        coverage = full_coverage(window) if whole else coverage_of(window)
        needed = int(np.ceil(self.persistence_s / window.interval)) if window.interval else 0
        reason = self._cannot_tell(window, needed, coverage.hosts_judged)
        if reason:
            return Judgement(Answer.CANNOT_TELL, reason, coverage, detector=self.name)
        found: dict[str, list[tuple[float, MetricShift]]] = {}
        for index, metric in enumerate(window.metrics):
            definition = known.definition(metric)
            shifts = self._outliers(window, index, definition, needed, spreads[index])
            for host, time, shift in shifts:
                found.setdefault(host, []).append((time, shift))
        suspects = sorted(
            (self._suspect(host, shifts) for host, shifts in found.items()),
            key=lambda suspect: -suspect.score,
        )
        answer = Answer.FAULTY if suspects else Answer.HEALTHY
        return Judgement(answer, "", coverage, tuple(suspects), detector=self.name)

    def _cannot_tell(self, window: MetricWindow, needed: int, answering: int) -> str:
        reason = too_few_hosts(answering, self.min_hosts)
        if not reason and (needed == 0 or len(window.time) < needed):
            return f"the window is shorter than the {self.persistence_s:.0f} s that must last"
        return reason

    def _outliers(
        self,
        window: MetricWindow,
        index: int,
        definition: MetricDefinition,
        needed: int,
        spread: "_Spread",
    ) -> Iterator[tuple[str, float, MetricShift]]:
        values = window.values[index]
        mean, deviation = spread.mean, spread.deviation
        reach = np.float32(self.deviations) * deviation
        sides: list[tuple[Callable[..., BoolArray], FloatArray]] = []
        if definition.bad is not Direction.LOW:
            sides.append((np.greater, mean + reach))
        if definition.bad is not Direction.HIGH:
            sides.append((np.less, mean - reach))
        for beyond, edge in sides:
            for entity in _may_last(values, edge, beyond, needed):
                end = _end_of_first_run(beyond(values[entity], edge), needed)
                if end is None:
                    continue
                usual = max(float(deviation[end]), 1e-12)
                value, peers = float(values[entity, end]), float(mean[end])
                shift = MetricShift(
                    metric=window.metrics[index],
                    deviations=(value - peers) / usual,
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


class _Spread(NamedTuple):
    """λ and δ over hosts, (samples,) each, and whether no sample is missing."""

    mean: FloatArray
    deviation: FloatArray
    whole: bool


def _mean_and_deviation(values: FloatArray) -> _Spread:
    """Over hosts; missing samples do not count."""
    total, squares = np.zeros(values.shape[1]), np.zeros(values.shape[1])
    ones = np.ones(_ROWS, np.float32)
    for first in range(0, len(values), _ROWS):
        some = values[first : first + _ROWS]
        total += ones[: len(some)] @ some
        squares += np.einsum("hs,hs->s", some, some)
    if not len(values) or not np.isfinite(total.sum()):
        return _of_present(values)
    mean = total / len(values)
    variance = squares / len(values) - mean**2
    if bool((variance < _CANCELLED * mean**2).any()):
        centred = values - mean.astype(np.float32)
        variance = np.einsum("hs,hs->s", centred, centred) / len(values)
    return _Spread(mean.astype(np.float32), np.sqrt(variance).astype(np.float32), whole=True)


def _of_present(values: FloatArray) -> _Spread:
    present = np.isfinite(values)
    count = np.maximum(present.sum(axis=0), 1)
    mean = np.where(present, values, 0).sum(axis=0) / count
    square = np.where(present, np.square(values - mean), 0).sum(axis=0) / count
    return _Spread(mean.astype(np.float32), np.sqrt(square).astype(np.float32), whole=False)


def _may_last(
    values: FloatArray, edge: FloatArray, beyond: Callable[..., BoolArray], needed: int
) -> npt.NDArray[np.intp]:
    """Entities that may be beyond the edge for long enough: every long run holds these samples.

    One sample in the needed length tells who cannot be, four of them who hardly can.
    """
    some = np.flatnonzero(beyond(values[:, ::needed], edge[::needed]).any(axis=1))
    stride = max(1, needed // 4)
    outside = beyond(values[some, ::stride], edge[::stride])
    row = needed // stride
    last = outside.shape[1] - row + 1
    running = outside[:, :last].copy()
    for offset in range(1, row):
        running &= outside[:, offset : offset + last]
    return some[running.any(axis=1)]


def _end_of_first_run(outside: BoolArray, needed: int) -> int | None:
    """The sample at which the first unbroken run reaches the needed length."""
    index = np.arange(len(outside))
    last_inside = np.maximum.accumulate(np.where(outside, -1, index))
    long_enough = np.flatnonzero(outside & (index - last_inside >= needed))
    return int(long_enough[0]) if long_enough.size else None
