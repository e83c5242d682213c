"""The metric catalogue: what ships, and what is refused."""

import pytest

from diagnosis.degradation.catalogue import Catalogue, CatalogueError, Direction

SHIPPED = (
    "gpu_util gpu_sm_active gpu_tensor_active gpu_power_w gpu_temp_c gpu_memtemp_c gpu_clock_mhz "
    "gpu_mem_gb nvlink_tx_gbps pcie_tx_gbps pcie_replay_s ecc_ce_s cpu_util cpu_iowait host_mem_gb "
    "ctx_switch_k net_tx_gbps net_rx_gbps ecn_cnp_s retrans_s pfc_tx_s switch_q_kb disk_read_mbps "
    "dataload_ms tflops_actual iteration_s"
)


@pytest.mark.parametrize("metric", SHIPPED.split())
def test_every_install_knows(metric: str) -> None:
    assert Catalogue.default().definition(metric).known


def test_an_exporters_name_means_the_same_metric() -> None:
    catalogue = Catalogue.default()
    assert catalogue.definition("DCGM_FI_DEV_SM_CLOCK").id == "gpu_clock_mhz"
    assert catalogue.definition("DCGM_FI_DEV_SM_CLOCK").bad is Direction.LOW


def test_an_unknown_metric_is_judged_both_ways() -> None:
    definition = Catalogue.default().definition("fan_speed_rpm")
    assert (definition.known, definition.bad) == (False, Direction.EITHER)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[1, 2]", "mapping"),
        (b"metrics: 3", "list of 'metrics'"),
        (b"metrics: [{unit: W}]", "no 'id'"),
        (b"metrics: [{id: a, bad: sideways}]", "'a'"),
        (b"metrics: [{id: a, floor: -1}]", "positive"),
        (b"metrics: [{id: a, colour: red}]", "colour"),
        (b"metrics: [{id: a}, {id: a}]", "twice"),
        (b"\xff\xfe\x00", "YAML"),
        (b"a: [", "YAML"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(content: bytes, reason: str) -> None:
    with pytest.raises(CatalogueError, match=reason):
        Catalogue.from_yaml(content)
