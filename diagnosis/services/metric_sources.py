"""Metric sources as the watch uses them: which one a cluster has, asking it, and how it did."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from django.conf import settings
from django.db.models import F, Q

from diagnosis.models import MetricSource, SourceKind, SourceState
from diagnosis.sources.aliases import aliases_of
from diagnosis.sources.connection import Connection
from diagnosis.sources.errors import SourceError, SourceFailure
from diagnosis.sources.gather import Gathered, GatherSettings, gather
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.labels import HOST_LABELS, LabelMap
from diagnosis.sources.prometheus import Prometheus
from diagnosis.sources.queries import MetricQuery
from diagnosis.sources.retry import Budget, RetryPolicy
from incidents.models import Cluster

#: After a failure that passes, and after one that does not, nobody asks for so long.
PASSING, PERMANENT = timedelta(seconds=20), timedelta(minutes=10)
_ANSWER_NOTED_EVERY = timedelta(seconds=15)


class Eyes(Protocol):
    """Asks a source; `ask` below, or what a test puts in its place. Raises `SourceError`."""

    def __call__(
        self,
        source: MetricSource,
        queries: Sequence[MetricQuery],
        hosts: Iterable[str],
        grid: TimeGrid,
        *,
        by_host: bool,
    ) -> Gathered: ...


def ask(
    source: MetricSource,
    queries: Sequence[MetricQuery],
    hosts: Iterable[str],
    grid: TimeGrid,
    *,
    by_host: bool,
) -> Gathered:
    """What the source knows of the hosts over the grid. Raises `SourceError`.

    Hosts that are scraped by address are found by what exporters say of themselves.
    """
    named = tuple(hosts)
    host_labels = {**HOST_LABELS, **source.host_labels}
    with Prometheus(connection_of(source), RetryPolicy(attempts=2)) as server:
        learned = aliases_of(server, named, grid.end, Budget(settings.WATCH_SOURCE_SECONDS))
        labels = LabelMap(host_labels=host_labels, aliases={**learned, **source.aliases})
        limits = GatherSettings(
            by_host=by_host, labels=labels, seconds=settings.WATCH_SOURCE_SECONDS
        )
        return gather(server, queries, named, grid, limits)


def source_for(cluster: Cluster, kind: SourceKind = SourceKind.PROMETHEUS) -> MetricSource | None:
    """The cluster's own source of a kind, else one that is for every cluster."""
    near = Q(cluster=cluster) | Q(cluster=None)
    fitting = MetricSource.objects.filter(near, kind=kind, enabled=True)
    return fitting.order_by(F("cluster").asc(nulls_last=True), "pk").first()


def connection_of(source: MetricSource) -> Connection:
    """How the source is reached. Raises a permanent `SourceError` where its secret is missing."""
    secret = settings.METRIC_SECRETS.get(source.secret_name) if source.secret_name else None
    if source.secret_name and secret is None:
        raise SourceError(
            f"the environment has no secret named {source.secret_name}",
            failure=SourceFailure.FORBIDDEN,
            permanent=True,
        )
    return Connection(
        url=source.url,
        bearer_token=None if source.username else secret,
        username=source.username or None,
        password=secret if source.username else None,
        headers={"X-Scope-OrgID": source.tenant} if source.tenant else {},
        verify_tls=source.verify_tls,
        ca_file=Path(source.ca_file) if source.ca_file else None,
        answer_timeout=settings.WATCH_SOURCE_SECONDS / 2,
    )


def resting(source: MetricSource, now: datetime) -> bool:
    """Whether the source failed just now and is not to be asked again yet."""
    return source.retry_at is not None and now < source.retry_at


def note_answer(source: MetricSource, *, now: datetime) -> None:
    """The source answers; written at most every few seconds, since many jobs ask one source."""
    last = source.answered_at if source.state == SourceState.ANSWERS else None
    if last is not None and now - last < _ANSWER_NOTED_EVERY:
        return
    source.answered_at, source.state, source.failing_since = now, SourceState.ANSWERS, None
    MetricSource.objects.filter(pk=source.pk).update(
        state=SourceState.ANSWERS,
        error="",
        permanent=False,
        failing_since=None,
        answered_at=now,
        retry_at=None,
    )


def note_failure(source: MetricSource, error: SourceError, *, now: datetime) -> None:
    """The source as a whole failed: until when nobody asks it depends on whether that passes."""
    pause = PERMANENT if error.permanent else PASSING
    if error.retry_after is not None:
        pause = max(pause, timedelta(seconds=min(error.retry_after, PERMANENT.total_seconds())))
    source.error, source.permanent = str(error), error.permanent
    source.failing_since, source.retry_at = source.failing_since or now, now + pause
    source.state = SourceState.FAILS
    source.save(update_fields=["error", "permanent", "failing_since", "retry_at", "state"])
