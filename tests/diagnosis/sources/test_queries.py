"""Rows of the query catalogue: what is shipped, what is refused."""

import re

import pytest

from diagnosis.degradation.catalogue import Catalogue
from diagnosis.sources.queries import (
    MetricQuery,
    QueryRowError,
    Windows,
    query_of_row,
    read_queries,
    shipped_queries,
)

#: docs/contract.md and the product's list of ids that every install ships.
SHIPPED = {
    "gpu_util",
    "gpu_sm_active",
    "gpu_tensor_active",
    "gpu_power_w",
    "gpu_temp_c",
    "gpu_memtemp_c",
    "gpu_clock_mhz",
    "gpu_mem_gb",
    "nvlink_tx_gbps",
    "pcie_tx_gbps",
    "pcie_replay_s",
    "ecc_ce_s",
    "cpu_util",
    "cpu_iowait",
    "host_mem_gb",
    "ctx_switch_k",
    "net_tx_gbps",
    "net_rx_gbps",
    "ecn_cnp_s",
    "retrans_s",
    "pfc_tx_s",
    "disk_read_mbps",
    "dataload_ms",
    "tflops_actual",
    "iteration_s",
}
HOST_ROW = {"exporter": "node", "entity": "host"}


def test_every_shipped_metric_that_a_server_can_have_is_asked_for() -> None:
    assert {query.metric for query in shipped_queries()} >= SHIPPED


@pytest.mark.parametrize("query", shipped_queries(), ids=lambda query: query.metric)
def test_every_shipped_row_selects_its_hosts_in_each_series(query: MetricQuery) -> None:
    promql = query.render(labels=("instance",), regex="HOSTS", windows=Windows())
    selectors = re.findall(r"[A-Za-z_:][\w:]*\{[^}]*\}", promql)
    assert selectors
    assert all('instance=~"HOSTS"' in selector for selector in selectors)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({**HOST_ROW}, "either series or promql"),
        ({**HOST_ROW, "series": "up", "promql": "up{$hosts}"}, "either series or promql"),
        ({**HOST_ROW, "promql": "up"}, "by \\$hosts"),
        ({**HOST_ROW, "promql": "up{$hosts,a=~'x$'}"}, "written '\\$\\$'"),
        ({**HOST_ROW, "promql": "up{$hosts}[$window]"}, "\\$window"),
        ({**HOST_ROW, "series": "up-time"}, "is no series"),
        ({**HOST_ROW, "series": "up", "transform": "derive"}, "derive"),
        ({**HOST_ROW, "series": "up", "entity": "rack"}, "rack"),
        ({**HOST_ROW, "series": "up", "per_host": "median"}, "per_host"),
        ({**HOST_ROW, "series": "up", "blank_from": "much"}, "much"),
        ({**HOST_ROW, "series": "up", "colour": "red"}, "colour"),
        ({**HOST_ROW, "series": {"scale": 1}}, "name"),
        ({"series": "up"}, "exporter"),
        ("up", "mapping"),
    ],
)
def test_a_wrong_row_is_refused_by_name(columns: object, reason: str) -> None:
    with pytest.raises(QueryRowError, match=f"m: .*{reason}"):
        query_of_row("m", columns)


@pytest.mark.parametrize("text", ["", "a: b", "- 1", "- {metrics: 3}", "[", "- metrics: {}"])
def test_a_file_that_is_no_catalogue_is_refused(text: str) -> None:
    with pytest.raises(QueryRowError):
        read_queries(text)


def test_a_metric_that_stands_twice_is_refused() -> None:
    group = "- {exporter: node, entity: host, metrics: {m: up}}\n"
    other = "- {exporter: node, entity: host, metrics: {m: down}}\n"
    with pytest.raises(QueryRowError, match="m: stands twice"):
        read_queries(group + other)


#: Known from files alone: no exporter gives the depth of switches' queues a common name.
FROM_FILES_ALONE = {"switch_q_kb"}


def test_every_metric_that_is_judged_can_be_asked_for_about_the_same_things() -> None:
    judged = {item.id: item.entity for item in Catalogue.default().metrics}
    asked = {query.metric: query.entity.value for query in shipped_queries()}
    assert judged.keys() - asked.keys() == FROM_FILES_ALONE
    assert {m for m in judged.keys() & asked.keys() if judged[m] != asked[m]} == set()


def test_a_flow_is_the_slope_through_the_samples_that_are_there_and_the_rate_after_a_reset():
    row = {"exporter": "node", "entity": "host", "series": "sent_total", "transform": "flow"}
    asked = query_of_row("sent", row).render(labels=["node"], regex="a", windows=Windows())
    series = 'sent_total{node=~"a"}[120000ms]'
    assert asked == f"((deriv({series}) >= 0) or rate({series}))"
