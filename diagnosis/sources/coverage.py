"""Who answered: which metrics and hosts have values, which are stale, and why the rest is not.

No answer is never health: a metric without series, one with blank values alone, and one whose
question failed are three different things, and each is said.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class MetricState(StrEnum):
    """What came of one metric."""

    ANSWERED = "answered"
    BLANK = "blank"
    NO_SERIES = "no-series"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class MetricCoverage:
    """One metric: the hosts with at least one value, and why others may lack it.

    `last_seen` maps each such host to the time of its last value. `failures` holds each error text
    once; `permanent` is True where asking again cannot help.
    A metric can be `ANSWERED` for some hosts and still have failures for others.
    """

    metric: str
    state: MetricState
    last_seen: Mapping[str, float] = field(default_factory=dict)
    failures: tuple[str, ...] = ()
    permanent: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a window rests on. Hosts are in the placement's spelling, times in seconds since 1970.

    `end` is the window's last time. `notes` are the server's warnings and what was odd in answers.
    """

    hosts: tuple[str, ...]
    metrics: tuple[MetricCoverage, ...]
    end: float
    notes: tuple[str, ...] = ()

    @property
    def last_seen(self) -> Mapping[str, float]:
        """Host → time of its last value of any metric."""
        seen: dict[str, float] = {}
        for metric in self.metrics:
            for host, time in metric.last_seen.items():
                seen[host] = max(time, seen.get(host, time))
        return seen

    @property
    def silent(self) -> tuple[str, ...]:
        """Hosts without a single value."""
        seen = self.last_seen
        return tuple(host for host in self.hosts if host not in seen)

    def stale(self, older_than: float) -> Mapping[str, tuple[str, ...]]:
        """Metric → hosts that had values and whose last is more than `older_than` seconds old."""
        limit = self.end - older_than
        stale = {
            metric.metric: tuple(h for h in self.hosts if metric.last_seen.get(h, limit) < limit)
            for metric in self.metrics
        }
        return {metric: hosts for metric, hosts in stale.items() if hosts}

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Metrics without a single value."""
        return tuple(m.metric for m in self.metrics if m.state is not MetricState.ANSWERED)

    @property
    def share(self) -> float:
        """The part of (host, metric) pairs that have a value, 0 to 1; 0 where nothing was asked.

        Metrics that no host exports count as absent too.
        """
        asked = len(self.hosts) * len(self.metrics)
        return sum(len(metric.last_seen) for metric in self.metrics) / asked if asked else 0.0

    def sentence(self) -> str:
        """The contract's `coverage` in words."""
        answered = len(self.hosts) - len(self.silent)
        metrics = len(self.metrics) - len(self.unanswered)
        return (
            f"{answered} of {len(self.hosts)} hosts and "
            f"{metrics} of {len(self.metrics)} metrics answered"
        )
