"""How each catalogue metric is asked for in PromQL: rows of data, and their rendering."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from string import Template
from types import MappingProxyType

import yaml

from diagnosis.sources.labels import EntityKind
from diagnosis.sources.selectors import matcher

_SERIES = re.compile(r"(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<matchers>.*)\})?", re.ASCII | re.DOTALL)
_PART = "aegis_part"


class Transform(StrEnum):
    """From a stored series to the value that is judged."""

    GAUGE = "gauge"
    RATE = "rate"
    FLOW = "flow"
    INCREASE = "increase"
    CHANGES = "changes"
    EVENT = "event"


#: `last_over_time` in place of the bare series: a dead exporter falls silent after `$fresh`, where
#: an instant selector would show its last value for five minutes more. `event` gives the value of
#: a sticky code only while it is new, and 0 otherwise. `flow` is the rate of what runs all the
#: time: the slope through the samples that are there, since `rate` falls where scrapes were lost,
#: for as long as its window; of a counter that began anew the rate.
_TEMPLATES: Mapping[Transform, Template] = MappingProxyType(
    {
        Transform.GAUGE: Template("last_over_time($series[$fresh])"),
        Transform.RATE: Template("rate($series[$w])"),
        Transform.FLOW: Template("(deriv($series[$w]) >= 0) or rate($series[$w])"),
        Transform.INCREASE: Template("increase($series[$w])"),
        Transform.CHANGES: Template("changes($series[$w])"),
        Transform.EVENT: Template(
            "last_over_time($series[$fresh]) * (changes($series[$w]) > bool 0)"
        ),
    }
)
_TEMPLATE_NAMES = frozenset({"hosts", "host", "w", "fresh"})


class QueryRowError(ValueError):
    """A row of the query catalogue that cannot be used. The message names row and column."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Look-back of rates (`$w`) and of gauges (`$fresh`), in seconds.

    `rate` must hold at least two scrapes; a longer one smears the onset by half its length.
    """

    rate: float = 120.0
    fresh: float = 120.0


@dataclass(frozen=True, slots=True)
class StoredSeries:
    """One exporter's name for a metric, with matchers of its own and a factor to the unit."""

    name: str
    matchers: str = ""
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class MetricQuery:
    """One row: where the values of a catalogue metric come from.

    Either `series` with a `transform` (several names are alternatives, the first that a device has
    counts, or, with `add_up`, parts of one sum), or `promql`, a template with `$hosts` (the host
    matcher), `$host` (the label that names the host), `$w` and `$fresh`. Values from `blank_from`
    on are the exporter's way to say "none" (DCGM: 2^47 for reals, near 2^63 for integers).
    `per_host` says how the devices of a host become one value.
    """

    metric: str
    exporter: str
    entity: EntityKind
    series: tuple[StoredSeries, ...] = ()
    transform: Transform = Transform.GAUGE
    promql: str | None = None
    add_up: bool = False
    blank_from: float | None = None
    per_host: str = "avg"

    def render(
        self, *, labels: Sequence[str], regex: str, windows: Windows, by_host: bool = False
    ) -> str:
        """The PromQL for the hosts whose name, in one of `labels`, matches `regex`.

        Raises `ValueError` for a label that PromQL does not take.
        """
        times = {"w": _duration(windows.rate), "fresh": _duration(windows.fresh)}
        terms = [self._of_label(label, matcher(label, regex), times) for label in labels]
        if by_host and self.entity is not EntityKind.HOST:
            pairs = zip(labels, terms, strict=True)
            terms = [f"{self.per_host} by ({label}) ({term})" for label, term in pairs]
        return " or ".join(terms)

    def _of_label(self, label: str, hosts: str, times: Mapping[str, str]) -> str:
        if self.promql is not None:
            return f"({Template(self.promql).substitute(times, hosts=hosts, host=label)})"
        return self._join([self._stored(one, hosts, times) for one in self.series])

    def _join(self, terms: list[str]) -> str:
        if not self.add_up or len(terms) == 1:
            return " or ".join(f"({term})" for term in terms)
        parts = (
            f'label_replace({term}, "{_PART}", "{number}", "", "")'
            for number, term in enumerate(terms)
        )
        return f"sum without ({_PART}) ({' or '.join(parts)})"

    def _stored(self, stored: StoredSeries, hosts: str, times: Mapping[str, str]) -> str:
        matchers = f"{stored.matchers},{hosts}" if stored.matchers else hosts
        series = f"{stored.name}{{{matchers}}}"
        expression = _TEMPLATES[self.transform].substitute(times, series=series)
        if self.blank_from is not None:
            expression = self._without_blanks(expression, series, times)
        return expression if stored.scale == 1.0 else f"({expression}) * {stored.scale!r}"

    def _without_blanks(self, expression: str, series: str, times: Mapping[str, str]) -> str:
        """Drop blank values; of a window (rate) every one that a blank fell into."""
        bound = f"{self.blank_from!r}"
        if self.transform is Transform.GAUGE:
            return f"{expression} < {bound}"
        return f"({expression}) and (max_over_time({series}[{times['w']}]) < {bound})"


def presence(names: Iterable[str], label: str, regex: str) -> str:
    """PromQL that lists which of the stored names the hosts have, whatever their values."""
    either = "|".join(sorted(names))
    return f'count by (__name__) ({{__name__=~"{either}",{matcher(label, regex)}}})'


@cache
def shipped_queries() -> tuple[MetricQuery, ...]:
    """The rows that every install ships (`queries.yaml`)."""
    text = resources.files("diagnosis.sources").joinpath("queries.yaml").read_text("utf-8")
    return read_queries(text)


def read_queries(text: str) -> tuple[MetricQuery, ...]:
    """Rows from YAML: a list of groups, whose rows share the group's columns.

    Raises `QueryRowError` naming row and column.
    """
    try:
        groups = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise QueryRowError(f"not YAML: {error}") from error
    rows: dict[str, MetricQuery] = {}
    for group in groups if isinstance(groups, list) else ():
        if not isinstance(group, Mapping) or not isinstance(group.get("metrics"), Mapping):
            raise QueryRowError("a group must be a mapping with 'metrics'")
        shared = {column: value for column, value in group.items() if column != "metrics"}
        for metric, columns in group["metrics"].items():
            own = columns if isinstance(columns, Mapping) else {"series": columns}
            if rows.setdefault(metric, row := query_of_row(str(metric), {**shared, **own})) != row:
                raise QueryRowError(f"{metric}: stands twice")
    if not rows:
        raise QueryRowError("queries must be a list of groups, each with 'metrics'")
    return tuple(rows.values())


def query_of_row(metric: str, row: object) -> MetricQuery:
    """One row from its columns, checked. Raises `QueryRowError` naming what is wrong."""
    if not isinstance(row, Mapping):
        raise QueryRowError(f"{metric}: columns must be a mapping")
    known = {
        "exporter", "entity", "series", "transform", "promql", "add_up", "blank_from", "per_host"
    }  # fmt: skip
    if unknown := set(row) - known:
        raise QueryRowError(f"{metric}: unknown column {min(map(str, unknown))!r}")
    try:
        query = MetricQuery(
            metric=metric,
            exporter=str(row["exporter"]),
            entity=EntityKind(row["entity"]),
            series=tuple(_stored_series(row.get("series", ()))),
            transform=Transform(row.get("transform", Transform.GAUGE)),
            promql=row.get("promql"),
            add_up=bool(row.get("add_up", False)),
            blank_from=None if row.get("blank_from") is None else float(row["blank_from"]),
            per_host=row.get("per_host", "avg"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise QueryRowError(f"{metric}: {error}") from error
    _check(query)
    return query


def _stored_series(given: object) -> Iterable[StoredSeries]:
    for one in given if isinstance(given, list | tuple) else (given,):
        columns = one if isinstance(one, Mapping) else {"name": one}
        found = _SERIES.fullmatch(str(columns["name"]).strip())
        if found is None:
            raise ValueError(f"{columns['name']!r} is no series")
        scale = float(columns.get("scale", 1.0))
        yield StoredSeries(found["name"], (found["matchers"] or "").strip(" ,"), scale)


def _check(query: MetricQuery) -> None:
    if (query.promql is None) == (not query.series):
        raise QueryRowError(f"{query.metric}: give either series or promql")
    if query.per_host not in {"avg", "sum", "min", "max"}:
        raise QueryRowError(f"{query.metric}: per_host is avg, sum, min or max")
    if query.promql is None:
        return
    template = Template(query.promql)
    if not template.is_valid():
        raise QueryRowError(f"{query.metric}: a '$' in promql is written '$$'")
    if unknown := set(template.get_identifiers()) - _TEMPLATE_NAMES:
        raise QueryRowError(f"{query.metric}: promql does not know ${min(unknown)}")
    if "hosts" not in template.get_identifiers():
        raise QueryRowError(f"{query.metric}: promql must select its hosts by $hosts")


def _duration(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"
