"""Windows and their coverage, gathered from a real Prometheus and from bad ones."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from diagnosis.sources.connection import Connection
from diagnosis.sources.coverage import MetricState
from diagnosis.sources.errors import SourceError, SourceFailure
from diagnosis.sources.gather import Gathered, GatherSettings, gather
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.labels import LabelMap
from diagnosis.sources.prometheus import Prometheus
from diagnosis.sources.queries import query_of_row, shipped_queries
from tests.diagnosis.sources.conftest import QUICK
from tests.diagnosis.sources.fake_server import Behaviour, answers, fake_server, in_turn, matrix
from tests.diagnosis.sources.fleet import HOSTS, MINUTE, ODD_HOST, START

QUERIES = {query.metric: query for query in shipped_queries()}
GRID = TimeGrid.covering(START + 5 * MINUTE, START + 115 * MINUTE, MINUTE)

Ask = Callable[..., Gathered]


@pytest.fixture
def ask(fleet: Prometheus) -> Ask:
    """Gather shipped metrics by id from the fleet."""

    def gathered(
        *metrics: str,
        hosts: tuple[str, ...] = HOSTS,
        grid: TimeGrid = GRID,
        settings: GatherSettings | None = None,
    ) -> Gathered:
        return gather(fleet, [QUERIES[metric] for metric in metrics], hosts, grid, settings)

    return gathered


def row(gathered: Gathered, host: str, device: str | None = None) -> NDArray[np.float32]:
    """The first metric's samples of one entity."""
    window = gathered.window
    entities = list(zip(window.hosts, window.devices, strict=True))
    samples: NDArray[np.float32] = window.values[0, entities.index((host, device))]
    return samples


def test_each_gpu_of_a_host_is_an_entity(ask: Ask) -> None:
    clocks = ask("gpu_clock_mhz")
    assert set(row(clocks, "node-02", "0")) == {1980.0}
    assert set(row(clocks, "node-02", "1")) == {1200.0}


def test_by_host_the_devices_become_one_value(ask: Ask) -> None:
    clocks = ask("gpu_clock_mhz", settings=GatherSettings(by_host=True))
    assert clocks.window.hosts == HOSTS
    assert set(row(clocks, "node-02")) == {(1980.0 + 1200.0) / 2}
    assert clocks.coverage.notes == ()


def test_hosts_keep_the_placement_s_spelling(ask: Ask) -> None:
    spelled = ("NODE-01.other.domain:29500", "Node-02")
    assert ask("gpu_clock_mhz", "net_tx_gbps", hosts=spelled).window.host_names == spelled


def test_each_nic_has_its_throughput(ask: Ask) -> None:
    assert row(ask("net_tx_gbps"), "node-01", "mlx5_1") == pytest.approx(40.0)


def test_a_counter_that_begins_anew_shows_no_spike_and_no_negative_rate(ask: Ask) -> None:
    rate = row(ask("net_tx_gbps"), "node-03", "mlx5_0")
    assert np.isfinite(rate).all()
    assert rate.min() > 30
    assert rate.max() < 41


def test_a_renamed_metric_is_found_on_the_hosts_that_have_the_new_name(ask: Ask) -> None:
    temperatures = ask("gpu_temp_c")
    assert set(row(temperatures, "node-01", "0")) == set(row(temperatures, "node-02", "0")) == {61}


def test_parts_of_a_sum_are_added_up_where_some_are_not_exported(ask: Ask) -> None:
    assert row(ask("retrans_s"), "node-01", "mlx5_0") == pytest.approx(5.0)


def test_a_template_is_evaluated_for_each_host(ask: Ask) -> None:
    used = ask("cpu_util")
    assert used.window.hosts == HOSTS
    assert row(used, "node-01") == pytest.approx(25.0)


def test_a_gap_in_the_scrapes_is_missing_and_not_carried_forward(ask: Ask) -> None:
    switches = row(ask("ctx_switch_k"), "node-02")
    minute = (GRID.times - START) / MINUTE
    assert np.isnan(switches[(minute > 52) & (minute < 60)]).all()
    assert np.isfinite(switches[(minute <= 50) | (minute >= 62)]).all()


def test_nan_is_missing(ask: Ask) -> None:
    power = row(ask("gpu_power_w"), "node-01", "0")
    assert np.isnan(power[GRID.times < START + 600]).all()
    assert (power[GRID.times >= START + 600] == 650).all()


def test_blank_values_of_a_gauge_are_missing(ask: Ask) -> None:
    temperature = row(ask("gpu_memtemp_c"), "node-01", "0")
    blank = (GRID.times >= START + 600) & (GRID.times < START + 900)
    assert np.isnan(temperature[blank]).all()
    assert (temperature[~blank] == 84).all()


def test_a_blank_value_in_a_counter_makes_no_spike(ask: Ask) -> None:
    grid = TimeGrid.covering(START + 5 * MINUTE, START + 20 * MINUTE, 15)
    errors = row(ask("ecc_ce_s", grid=grid), "node-01", "0")
    assert set(errors[np.isfinite(errors)]) == {0.0}


def test_a_sticky_code_counts_only_while_it_is_new(fleet: Prometheus) -> None:
    columns = {"exporter": "gpu", "entity": "gpu", "transform": "event"}
    query = query_of_row("xid", {**columns, "series": "DCGM_FI_DEV_XID_ERRORS"})
    code = row(gather(fleet, [query], HOSTS, GRID), "node-01", "0")
    minute = (GRID.times - START) / MINUTE
    assert set(code[(minute >= 60) & (minute < 62)]) == {79.0}
    assert set(code[(minute < 60) | (minute > 62)]) == {0.0}


def test_series_that_are_all_blank_are_told_from_no_series(ask: Ask) -> None:
    coverage = ask("gpu_sm_active", "gpu_dram_active").coverage
    assert [metric.state for metric in coverage.metrics] == [
        MetricState.BLANK,
        MetricState.NO_SERIES,
    ]
    assert coverage.unanswered == ("gpu_sm_active", "gpu_dram_active")


def test_a_host_that_nobody_knows_is_silent_and_not_healthy(ask: Ask) -> None:
    found = ask("gpu_clock_mhz", hosts=("node-01", "ghost"))
    assert found.coverage.silent == ("ghost",)
    assert found.coverage.share == 0.5
    assert "ghost" not in found.window.hosts


def test_a_dead_exporter_is_stale_for_its_metrics_alone(ask: Ask) -> None:
    coverage = ask("gpu_clock_mhz", "net_tx_gbps").coverage
    assert coverage.stale(older_than=300) == {"gpu_clock_mhz": ("node-04",)}


def test_a_dead_exporter_is_seen_within_two_minutes(ask: Ask) -> None:
    last = ask("gpu_clock_mhz").coverage.last_seen["node-04"]
    assert last == START + 32 * MINUTE


def test_two_jobs_that_scrape_one_host_are_noted(ask: Ask) -> None:
    switches = ask("ctx_switch_k")
    assert set(row(switches, "node-01").round()) in ({1.0}, {7.0})
    assert switches.coverage.notes == (
        "ctx_switch_k: several series for one device (node-01); the first counts",
    )


def test_names_full_of_special_characters_select_their_host_alone(ask: Ask) -> None:
    odd = ask("ctx_switch_k", hosts=(ODD_HOST,))
    assert odd.window.hosts == (ODD_HOST,)
    assert row(odd, ODD_HOST) == pytest.approx(2.0)


def test_a_host_known_by_its_ipv6_address_is_found(ask: Ask) -> None:
    assert row(ask("ctx_switch_k", hosts=("fd00::16",)), "fd00::16") == pytest.approx(3.0)


def test_an_alias_leads_to_its_host(ask: Ask) -> None:
    settings = GatherSettings(labels=LabelMap(aliases={"node-03": "trainer-c"}))
    found = ask("cpu_util", hosts=("trainer-c",), settings=settings)
    assert found.window.hosts == ("trainer-c",)


def test_many_hosts_are_asked_for_in_several_queries(ask: Ask) -> None:
    crowd = (*(f"absent-{number:04}" for number in range(600)), *HOSTS)
    found = ask("gpu_clock_mhz", hosts=crowd)
    assert found.window.host_names == HOSTS
    assert len(found.coverage.silent) == 600


def test_a_label_that_names_every_host_is_asked_by_alone() -> None:
    both = {"Hostname": "a", "instance": "a:9400", "gpu": "0"}
    with (
        fake_server(answers(200, matrix((both, [[0, "1"]])))) as server,
        Prometheus(Connection(server.url), QUICK) as source,
    ):
        queries = [QUERIES["gpu_power_w"], QUERIES["gpu_temp_c"]]
        gather(source, queries, ("a",), TimeGrid(0, 60, 3))
    first, second = (form["query"] for form in server.asked)
    assert "instance=~" in first
    assert "instance=~" not in second


def test_a_small_bound_on_samples_changes_nothing(ask: Ask) -> None:
    whole = ask("gpu_clock_mhz", "cpu_util")
    small = ask("gpu_clock_mhz", "cpu_util", settings=GatherSettings(samples_per_query=500))
    assert np.array_equal(whole.window.values, small.window.values, equal_nan=True)


@pytest.mark.parametrize("by_host", [False, True])
def test_a_real_server_understands_every_shipped_row(ask: Ask, by_host: bool) -> None:
    coverage = ask(*QUERIES, settings=GatherSettings(by_host=by_host)).coverage
    assert {metric.metric for metric in coverage.metrics if metric.failures} == set()


def test_one_wrong_row_costs_its_own_metric_alone(fleet: Prometheus) -> None:
    wrong = query_of_row("wrong", {"exporter": "node", "entity": "host", "promql": "rate($hosts"})
    found = gather(fleet, [wrong, QUERIES["cpu_util"]], HOSTS, GRID)
    first, second = found.coverage.metrics
    assert (first.state, first.permanent) == (MetricState.FAILED, True)
    assert "parse error" in first.failures[0]
    assert second.state is MetricState.ANSWERED


def test_no_hosts_give_an_empty_window(ask: Ask) -> None:
    assert ask("cpu_util", hosts=()).window.values.shape == (1, 0, GRID.samples)


def gathered_from(*behaviours: Behaviour, metrics: tuple[str, ...]) -> tuple[Gathered, int]:
    turns = in_turn(*behaviours)
    with fake_server(turns) as server, Prometheus(Connection(server.url), QUICK) as source:
        found = gather(source, [QUERIES[m] for m in metrics], ("a",), TimeGrid(0, 60, 3))
        return found, len(server.asked)


def test_an_empty_server_covers_nothing() -> None:
    found, _ = gathered_from(answers(200, matrix()), metrics=("cpu_util", "gpu_power_w"))
    assert found.coverage.share == 0.0
    assert found.coverage.sentence() == "0 of 1 hosts and 0 of 2 metrics answered"


def test_a_server_that_fails_midway_leaves_what_it_answered() -> None:
    good = answers(200, matrix(({"instance": "a:9100"}, [[0, "1"]])))
    found, _ = gathered_from(good, answers(503, ""), metrics=("cpu_util", "cpu_iowait"))
    states = [metric.state for metric in found.coverage.metrics]
    assert states == [MetricState.ANSWERED, MetricState.FAILED]
    assert not found.coverage.metrics[1].permanent


@pytest.mark.parametrize(
    ("status", "failure", "asked"),
    [
        (401, SourceFailure.FORBIDDEN, 1),
        (404, SourceFailure.WRONG_ADDRESS, 1),
        (503, SourceFailure.OVERLOADED, 3),
        (422, SourceFailure.REJECTED, 2),
    ],
)
def test_a_source_that_answers_nothing_is_an_error_and_not_an_empty_window(
    status: int, failure: SourceFailure, asked: int
) -> None:
    with (
        fake_server(answers(status, "")) as server,
        Prometheus(Connection(server.url), QUICK) as source,
        pytest.raises(SourceError) as caught,
    ):
        gather(source, [QUERIES["cpu_util"], QUERIES["cpu_iowait"]], ("a",), TimeGrid(0, 60, 3))
    assert (caught.value.failure, len(server.asked)) == (failure, asked)


def test_credentials_that_expire_midway_end_the_gathering() -> None:
    good = answers(200, matrix(({"instance": "a:9100"}, [[0, "1"]])))
    with pytest.raises(SourceError) as caught:
        gathered_from(good, answers(401, ""), metrics=("cpu_util", "cpu_iowait"))
    assert caught.value.permanent
