"""Short windows: what each host does after a moment against what it did before."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import FloatArray, MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.answers import Answer, HostSuspect, Judgement, MetricShift
from diagnosis.degradation.catalogue import Catalogue, MetricDefinition
from diagnosis.degradation.coverage import coverage_of, too_few_hosts
from diagnosis.degradation.peers import Peers, median_over_time, peers_of
from diagnosis.degradation.scaling import Scaling, bad_size, fit_scaling
from diagnosis.degradation.step import bound


@dataclass(frozen=True)
class WindowContrast:
    """Difference in differences of medians, for windows too short to watch (algorithms 3.1).

    A window of a minute or two holds no past to learn from, so it is judged once and as a whole:
    it is cut at each of `cuts` (shares of its length); each cell's median after minus before, less
    its peers', is measured in deviations of the peers' differences and of the cell's own noise. A
    host's deviations are added up over metrics, each at most `top`. The first host is named when
    its sum is `lead` times the second's and one of its metrics is beyond the bound over all cells
    (`chance`), or, with `many_metrics` and more, when the sum alone stands out.
    """

    name: str = "window-contrast"
    cuts: Sequence[float] = (0.4, 0.5, 0.6)
    top: float = 8.0
    lead: float = 1.8
    own_noise: float = 5.0
    chance: float = 1e-3
    many_metrics: int = 8
    min_samples: int = 16
    min_hosts: int = 3

    def __call__(self, window: MetricWindow) -> Judgement:
        return self.judge(window)

    def judge(
        self,
        window: MetricWindow,
        *,
        placement: Placement | None = None,
        catalogue: Catalogue | None = None,
    ) -> Judgement:
        """Judge a window of shape (metrics, entities, samples) once, as a whole."""
        coverage = coverage_of(window)
        reason = too_few_hosts(coverage.hosts_judged, self.min_hosts)
        if not reason and len(window.time) < self.min_samples:
            reason = f"{len(window.time)} samples are too few; {self.min_samples} are needed"
        if reason:
            return Judgement(Answer.CANNOT_TELL, reason, coverage, detector=self.name)
        known = catalogue or Catalogue.default()
        definitions = [known.definition(name) for name in window.metrics]
        peers = peers_of(window.hosts, window.devices, placement)
        suspects = self._suspects(window, definitions, peers)
        named = any(suspect.alarm_time is not None for suspect in suspects)
        answer = Answer.FAULTY if named else Answer.HEALTHY
        return Judgement(answer, "", coverage, suspects, detector=self.name)

    def _suspects(
        self, window: MetricWindow, definitions: Sequence[MetricDefinition], peers: Peers
    ) -> tuple[HostSuspect, ...]:
        values = window.values[:, peers.order]
        scaling = fit_scaling(values[:, :, : values.shape[2] // 2], definitions)
        scaled = np.stack(
            [scaling(np.ascontiguousarray(values[:, :, i])) for i in range(values.shape[2])], -1
        )
        apart = scaled - np.stack(
            [
                np.broadcast_to(peers.median(tick), tick.shape)
                for tick in np.moveaxis(scaled, -1, 0)
            ],
            -1,
        )
        cells = [self._deviations(apart, cut, peers, scaling) for cut in self.cuts]
        mean = np.mean(cells, axis=0)
        sums = _per_host(np.minimum(np.maximum(mean, 0.0), self.top).sum(axis=0), peers)
        order = np.argsort(-sums, kind="stable")
        first, second = order[0], sums[order[1]]
        if sums[first] <= 0:
            return ()
        columns = np.flatnonzero(peers.host == first)
        strongest = float(mean[:, columns].max())
        limit = bound(mean.size, self.chance)
        enough = len(definitions) >= self.many_metrics or strongest >= limit
        named = enough and bool(sums[first] >= self.lead * second)
        cut = max(
            self.cuts, key=lambda share: cells[list(self.cuts).index(share)][:, columns].sum()
        )
        onset = float(window.time[int(cut * len(window.time))])
        return (
            HostSuspect(
                host=window.hosts[peers.order[columns[0]]],
                score=float(1 - second / sums[first] / 2) if named else 0.3,
                onset=onset,
                alarm_time=float(window.time[-1]) if named else None,
                metrics=_shifts(window, values, mean, columns, cut, definitions, peers),
            ),
        )

    def _deviations(
        self, apart: FloatArray, cut: float, peers: Peers, scaling: Scaling
    ) -> FloatArray:
        """Each cell's change in the bad direction in deviations, shape (metrics, entities)."""
        at = int(cut * apart.shape[2])
        before, after = apart[:, :, :at], apart[:, :, at:]
        with np.errstate(invalid="ignore"):
            change = median_over_time(after) - median_over_time(before)
        change = change - peers.median(change)
        spread = peers.deviation(change)
        noise = np.sqrt(
            self.own_noise * (_variance(before) / at + _variance(after) / after.shape[2])
        )
        usual = np.sqrt(np.square(spread) + np.square(peers.median(noise)) + np.square(noise))
        deviations: FloatArray = np.nan_to_num(
            bad_size(change, scaling) / (usual + np.float32(1e-3))
        )
        return deviations


def _variance(values: FloatArray) -> FloatArray:
    present = np.isfinite(values)
    count = np.maximum(present.sum(axis=-1), 1)
    filled = np.where(present, values, 0)
    mean = filled.sum(axis=-1) / count
    square: FloatArray = np.square(np.where(present, values - mean[..., None], 0)).sum(axis=-1)
    variance: FloatArray = square / count
    return variance


def _per_host(by_entity: FloatArray, peers: Peers) -> npt.NDArray[np.float64]:
    """The largest value of each host's entities, by host number."""
    by_host = np.zeros(int(peers.host.max()) + 1)
    np.maximum.at(by_host, peers.host, by_entity)
    return by_host


def _shifts(
    window: MetricWindow,
    values: FloatArray,
    deviations: FloatArray,
    columns: npt.NDArray[np.intp],
    cut: float,
    definitions: Sequence[MetricDefinition],
    peers: Peers,
) -> tuple[MetricShift, ...]:
    """The metrics that speak for the host, the strongest first."""
    at = int(cut * values.shape[2])
    found = []
    mine = deviations[:, columns]
    for row, column in np.argwhere((mine > 2) | (mine == mine.max())).tolist():
        entity = columns[column]
        value, usual = (
            np.nanmedian(values[row, entity, at:]),
            np.nanmedian(values[row, entity, :at]),
        )
        others = np.nanmedian(values[row, :, at:])
        found.append(
            MetricShift(
                metric=window.metrics[row],
                deviations=float(np.copysign(deviations[row, entity], value - usual)),
                value=float(value),
                usual=float(usual),
                peers=float(others),
                device=window.devices[peers.order[entity]],
                implicates=definitions[row].implicates,
            )
        )
    return tuple(sorted(found, key=lambda shift: -abs(shift.deviations)))
