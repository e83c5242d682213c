"""Other names of hosts, learnt from what exporters say of themselves: addresses, mostly."""

from collections.abc import Iterable
from dataclasses import dataclass

from diagnosis.core.target import normalise_host
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.labels import without_brackets
from diagnosis.sources.prometheus import Prometheus
from diagnosis.sources.retry import Budget
from diagnosis.sources.selectors import host_groups, matcher


@dataclass(frozen=True, slots=True)
class NameSeries:
    """A series whose labels give a host's own name and another one."""

    series: str
    host_label: str
    other_label: str


#: node_exporter tells its kernel's name beside the address of its scrape, and kube-state-metrics
#: each node's address; both are switched on by default.
NAME_SERIES = (
    NameSeries("node_uname_info", host_label="nodename", other_label="instance"),
    NameSeries("kube_node_info", host_label="node", other_label="internal_ip"),
)


def aliases_of(
    source: Prometheus,
    hosts: Iterable[str],
    at: float,
    budget: Budget,
    name_series: Iterable[NameSeries] = NAME_SERIES,
) -> dict[str, str]:
    """Other name → the placement's name, as `LabelMap.aliases` and `ras_progress` take them.

    `at` is in seconds since 1970. A name that two hosts share is left out. Raises `SourceError`.
    """
    wanted = {normalise_host(host): host for host in hosts}
    found: dict[str, set[str]] = {}
    for names in name_series:
        for group in host_groups(wanted):
            promql = f"{names.series}{{{matcher(names.host_label, group.regex)}}}"
            answer = source.query_range(promql, TimeGrid(at, 60.0, 1), budget)
            for series in answer.series:
                host = wanted.get(normalise_host(series.labels.get(names.host_label, "")))
                other = normalise_host(without_brackets(series.labels.get(names.other_label, "")))
                if host is not None and other and other != normalise_host(host):
                    found.setdefault(other, set()).add(host)
    return {other: hosts.pop() for other, hosts in found.items() if len(hosts) == 1}
