"""The metric window of some hosts, gathered from a Prometheus-compatible server."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.target import normalise_host
from diagnosis.sources.answers import RangeAnswer
from diagnosis.sources.coverage import Coverage, MetricCoverage, MetricState
from diagnosis.sources.errors import SourceError, SourceFailure
from diagnosis.sources.grid import POINTS_PER_QUERY, TimeGrid
from diagnosis.sources.labels import EntityKind, LabelMap
from diagnosis.sources.prometheus import Prometheus
from diagnosis.sources.queries import MetricQuery, Windows, presence
from diagnosis.sources.retry import Budget
from diagnosis.sources.rows import CollectedRows
from diagnosis.sources.selectors import HostGroup, host_groups

#: Failures of the server and not of one question: with no answer yet, the rest is not asked.
_SERVER_DOWN = frozenset(
    {
        SourceFailure.UNREACHABLE,
        SourceFailure.OVERLOADED,
        SourceFailure.SERVER_ERROR,
        SourceFailure.GARBAGE,
    }
)


@dataclass(frozen=True)
class GatherSettings:
    """How much is asked at once, and how.

    `by_host` gives one value per host and metric (the row's `per_host`), else one per device.
    `seconds` bounds the whole gathering. `samples_per_query` bounds one answer, counting
    `devices_per_host` series a host; a sample takes some 30 bytes of JSON.
    """

    by_host: bool = False
    windows: Windows = field(default_factory=Windows)
    labels: LabelMap = field(default_factory=LabelMap)
    seconds: float = 45.0
    samples_per_query: int = 1_000_000
    devices_per_host: int = 16


@dataclass(frozen=True, slots=True)
class Gathered:
    """What came back, and what it rests on."""

    window: MetricWindow
    coverage: Coverage


def gather(
    source: Prometheus,
    queries: Sequence[MetricQuery],
    hosts: Iterable[str],
    grid: TimeGrid,
    settings: GatherSettings | None = None,
) -> Gathered:
    """Ask every query for every host over `grid`.

    A question that fails leaves its metric out and stands in the coverage. Raises `SourceError`
    where the source as a whole fails (credentials, address, certificate) or no question at all was
    answered.
    """
    asking = _Asking(source, tuple(dict.fromkeys(hosts)), grid, settings or GatherSettings())
    for query in queries:
        asking.ask(query)
    if queries and not asking.answered and asking.failures:
        raise next(iter(asking.failures.values()))[0]
    asking.look_for_blanks(queries)
    return asking.gathered(queries)


class _Asking:
    """One gathering under way."""

    def __init__(
        self, source: Prometheus, hosts: tuple[str, ...], grid: TimeGrid, settings: GatherSettings
    ) -> None:
        self.source, self.grid, self.settings = source, grid, settings
        self.hosts = hosts
        self.groups = host_groups(settings.labels.names_of(hosts))
        self.budget = Budget(settings.seconds)
        self.rows = CollectedRows(grid, {normalise_host(host): host for host in hosts})
        self.failures: dict[str, list[SourceError]] = {}
        self.blank: frozenset[str] = frozenset()
        self.answered = False

    def ask(self, query: MetricQuery) -> None:
        """One metric of all hosts. Raises where the source as a whole cannot be used."""
        for group in self.groups:
            try:
                answer = self._ask_group(query, group)
            except SourceError as error:
                if error.whole_source or (not self.answered and error.failure in _SERVER_DOWN):
                    raise
                self.failures.setdefault(query.metric, []).append(error)
                if error.permanent or error.failure is SourceFailure.OUT_OF_TIME:
                    return
                continue
            self.answered = True
            self.rows.take(query, answer, self.settings)

    def _ask_group(self, query: MetricQuery, group: HostGroup) -> RangeAnswer:
        settings = self.settings
        promql = query.render(
            labels=self._labels(query.exporter),
            regex=group.regex,
            windows=settings.windows,
            by_host=settings.by_host,
        )
        one_each = settings.by_host or query.entity is EntityKind.HOST
        series = len(group.hosts) * (1 if one_each else settings.devices_per_host)
        points = min(POINTS_PER_QUERY, max(1, settings.samples_per_query // series))
        return self.source.query_range(promql, self.grid, self.budget, points_per_query=points)

    def _labels(self, exporter: str) -> tuple[str, ...]:
        """The labels to ask by: one alone, once it has named every host, is the cheaper query."""
        labels = self.settings.labels.labels_of(exporter)
        enough = (label for label in labels if self.rows.names_every_host(exporter, label))
        return next(((label,) for label in enough), labels)

    def look_for_blanks(self, queries: Sequence[MetricQuery]) -> None:
        """Tell metrics that are exported without a usable value from those that nobody exports."""
        empty = [q for q in queries if q.series and q.metric not in self.rows.metrics]
        empty = [query for query in empty if query.metric not in self.failures]
        last = TimeGrid(self.grid.end, self.grid.step, 1)
        present: set[str] = set()
        for label in sorted({label for query in empty for label in self._labels(query.exporter)}):
            names = {stored.name for query in empty for stored in query.series}
            for group in self.groups:
                promql = presence(names, label, group.regex)
                try:
                    answer = self.source.query_range(promql, last, self.budget)
                except SourceError as error:
                    self.rows.note(f"could not tell blank metrics from absent ones: {error}")
                    return
                present |= {series.labels.get("__name__", "") for series in answer.series}
        self.blank = frozenset(q.metric for q in empty if {s.name for s in q.series} & present)

    def gathered(self, queries: Sequence[MetricQuery]) -> Gathered:
        metrics = tuple(query.metric for query in queries)
        return Gathered(
            window=self.rows.window(metrics),
            coverage=Coverage(
                hosts=self.hosts,
                metrics=tuple(self._coverage_of(metric) for metric in metrics),
                end=self.grid.end,
                notes=tuple(self.rows.notes),
            ),
        )

    def _coverage_of(self, metric: str) -> MetricCoverage:
        seen = self.rows.last_seen(metric)
        failures = self.failures.get(metric, [])
        if seen:
            state = MetricState.ANSWERED
        elif failures:
            state = MetricState.FAILED
        elif metric in self.blank or metric in self.rows.metrics:
            state = MetricState.BLANK
        else:
            state = MetricState.NO_SERIES
        texts = tuple(dict.fromkeys(str(error) for error in failures))
        return MetricCoverage(metric, state, seen, texts, any(e.permanent for e in failures))
