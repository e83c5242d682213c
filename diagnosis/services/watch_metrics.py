"""One look at a job's metrics: what is new at its source, taken into the detector's state."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.core.target import normalise_host
from diagnosis.degradation.answers import Answer, HostSuspect, Judgement
from diagnosis.degradation.devices import DeviceRule, with_devices
from diagnosis.degradation.pace import Pace, PaceRule
from diagnosis.degradation.picture import window_pictures
from diagnosis.degradation.streaming import (
    Stream,
    StreamSettings,
    advance,
    begin,
    forget_recovered,
    lasting,
    series_of,
)
from diagnosis.models import MetricSource
from diagnosis.services import metric_sources
from diagnosis.services.metric_sources import Eyes
from diagnosis.services.metrics import CurrentMetrics
from diagnosis.sources.coverage import Coverage
from diagnosis.sources.errors import SourceError, SourceFailure
from diagnosis.sources.gather import Gathered
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.labels import EntityKind
from diagnosis.sources.queries import MetricQuery

#: An attempt's first samples are of loading and compiling; its hosts' past begins after that (s).
SETTLE = 300.0
#: Seconds before an onset that pictures and devices are looked at from.
BEFORE_ONSET = 1200.0
STREAM = StreamSettings()
#: The job's own pace, asked for whether or not anyone told it at first.
ITERATIONS = "iteration_s"
_NOBODY = "no host of the job answers at its metric source"


@dataclass
class Kept:
    """What the watch keeps of a job between two looks.

    `paced_by_metrics`: iteration times come from the job's own metric, not from its reports.
    """

    stream: Stream | None = None
    pace: Pace = field(default_factory=Pace)
    paced_by_metrics: bool = False


@dataclass(frozen=True, slots=True)
class MetricLook:
    """What came of asking. `error` where the source could not be asked; no judgement then.

    `until` is the time of the newest value, `learned` since when it is known what is usual.
    """

    judgement: Judgement | None = None
    coverage: Coverage | None = None
    error: str = ""
    until: float | None = None
    learned: float | None = None


@dataclass(frozen=True, slots=True)
class MetricEyes:
    """A source, what it is asked, and about which hosts."""

    source: MetricSource
    metrics: CurrentMetrics
    placement: Placement
    ask: Eyes

    def look(self, kept: Kept, *, began: float, now: datetime) -> MetricLook:
        """Takes what is new into `kept`. Whatever the source does ends in the answer's `error`."""
        if metric_sources.resting(self.source, now):
            return MetricLook(error=self.source.error)
        stream = self._usable(kept.stream, now)
        grid = self._grid(stream, began, now)
        asked = self._queries(stream)
        try:
            gathered = self._ask(asked, self.placement.hosts, grid, now, by_host=True)
        except SourceError as error:
            return MetricLook(error=str(error))
        window = gathered.window
        if stream is not None:
            judgement = advance(stream, window)
        else:
            stream, judgement = begin(
                window,
                placement=self.placement,
                catalogue=self.metrics.catalogue,
                settings=STREAM,
            )
        kept.stream = stream
        self._follow_pace(kept, window)
        judgement = replace(judgement, suspects=lasting(judgement))
        if stream is not None:
            forget_recovered(stream)
        seen = gathered.coverage.last_seen.values()
        if not seen:
            judgement = replace(judgement, answer=Answer.CANNOT_TELL, reason=_NOBODY)
        return MetricLook(
            judgement,
            gathered.coverage,
            until=max(seen, default=None),
            learned=stream.watch.start if stream else None,
        )

    def _follow_pace(self, kept: Kept, window: MetricWindow) -> None:
        time, seconds = series_of(window, ITERATIONS)
        if not np.isfinite(seconds).any():
            return
        if not kept.paced_by_metrics:
            kept.pace, kept.paced_by_metrics = Pace(), True
        PaceRule().follow(kept.pace, time, seconds)

    def named(self, judgement: Judgement, now: datetime) -> Judgement:
        """The judgement with the devices that its suspects' shifts sit on, as far as is told."""
        for suspect in judgement.suspects[:3]:
            metrics = {shift.metric for shift in suspect.metrics}
            queries = [
                query
                for query in self.metrics.queries
                if query.metric in metrics and query.entity is not EntityKind.HOST
            ]
            if not queries:
                continue
            grid = self._around(suspect.onset, now)
            try:
                gathered = self._ask(queries, [suspect.host], grid, now, by_host=False)
            except SourceError:
                continue
            judgement = with_devices(judgement, DeviceRule()(gathered.window, suspect.onset))
        return judgement

    def window_around(self, onset: float, now: datetime) -> MetricWindow | None:
        """Everything that is judged, by host, since well before an onset; None where nobody tells.

        It is what pictures are drawn from, and what is kept beside the incident.
        """
        grid = self._around(onset, now)
        try:
            gathered = self._ask(
                self.metrics.queries, self.placement.hosts, grid, now, by_host=True
            )
        except SourceError:
            return None
        window = gathered.window
        told = np.asarray(np.isfinite(window.values).any(axis=(1, 2)))
        if not told.any():
            return None
        names = tuple(name for name, here in zip(window.metrics, told, strict=True) if here)
        return replace(window, values=window.values[told], metrics=names)

    def pictures(
        self, window: MetricWindow | None, suspects: Sequence[HostSuspect]
    ) -> dict[str, object]:
        """What is drawn of a window and its suspects; nothing without either."""
        if window is None or not suspects:
            return {}
        return window_pictures(window, suspects, self.placement, self.metrics.catalogue)

    def _ask(
        self,
        queries: Sequence[MetricQuery],
        hosts: Sequence[str],
        grid: TimeGrid,
        now: datetime,
        *,
        by_host: bool,
    ) -> Gathered:
        if metric_sources.resting(self.source, now):
            raise SourceError(self.source.error, failure=SourceFailure.UNREACHABLE, permanent=False)
        try:
            gathered = self.ask(self.source, queries, hosts, grid, by_host=by_host)
        except SourceError as error:
            metric_sources.note_failure(self.source, error, now=now)
            raise
        metric_sources.note_answer(self.source, now=now)
        return gathered

    def _usable(self, stream: Stream | None, now: datetime) -> Stream | None:
        """The kept state, unless the job moved, the grid changed, or the gap is too long."""
        if stream is None:
            return None
        same = {normalise_host(host) for host in stream.hosts} == {
            normalise_host(host) for host in self.placement.hosts
        }
        in_time = now.timestamp() - stream.until <= STREAM.longest_gap
        return stream if same and in_time and stream.step == self.source.step_s else None

    def _grid(self, stream: Stream | None, began: float, now: datetime) -> TimeGrid:
        """From where the state ends, or as much past as there is; the last minutes of a young job.

        A job that has not yet enough past for a state is only asked who answers.
        """
        step = float(self.source.step_s)
        end = math.floor((now.timestamp() - self.source.delay_s) / step) * step
        if stream is not None:
            return TimeGrid(stream.until + step, step, max(1, round((end - stream.until) / step)))
        start = max(began + SETTLE, end - STREAM.longest_past)
        start = math.ceil(start / step) * step
        if end - start < STREAM.past + 4 * step:
            start = end - 8 * step
        return TimeGrid(start, step, round((end - start) / step) + 1)

    def _around(self, onset: float, now: datetime) -> TimeGrid:
        step = float(self.source.step_s)
        end = math.floor((now.timestamp() - self.source.delay_s) / step) * step
        start = math.floor((onset - BEFORE_ONSET) / step) * step
        return TimeGrid(start, step, max(1, round((end - start) / step) + 1))

    def _queries(self, stream: Stream | None) -> Sequence[MetricQuery]:
        """Every question for a first look, afterwards those that someone answered."""
        if stream is None:
            return self.metrics.queries
        told = {*stream.metrics, ITERATIONS}
        return [query for query in self.metrics.queries if query.metric in told]
