"""Simulated fleets: seeded, truthful, and as untidy as asked."""

import numpy as np
import pytest

from diagnosis.degradation.detector import Detector
from diagnosis.simulator.fleet import simulate_fleet
from diagnosis.simulator.fleet_confounders import CONFOUNDERS
from diagnosis.simulator.fleet_faults import FAULTS


def test_the_same_seed_gives_the_same_fleet() -> None:
    first, second = (simulate_fleet(7, fault="straggler", hosts=4)[0] for _ in range(2))
    assert np.array_equal(first.values, second.values, equal_nan=True)


def test_there_are_fourteen_faults_and_eight_confounders() -> None:
    assert (len(FAULTS), len(CONFOUNDERS)) == (14, 8)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_changes_its_host_after_the_onset_and_nothing_before(fault: str) -> None:
    healthy, _, _ = simulate_fleet(3, hosts=4, confounders=(), untidy=False)
    faulty, truth, _ = simulate_fleet(3, fault=fault, hosts=4, confounders=(), untidy=False)
    assert truth.onset is not None
    assert truth.host in faulty.hosts
    before = faulty.time < truth.onset
    assert np.array_equal(faulty.values[:, :, before], healthy.values[:, :, before])
    row = faulty.hosts.index(truth.host)
    assert not np.array_equal(faulty.values[:, row, ~before], healthy.values[:, row, ~before])


@pytest.mark.parametrize("confounder", CONFOUNDERS)
def test_a_confounder_leaves_the_truth_healthy(confounder: str) -> None:
    window, truth, _ = simulate_fleet(5, hosts=8, confounders=(confounder,))
    assert (truth.kind, truth.host, truth.onset) == (None, None, None)
    assert window.values.shape[1] == 8


def test_untidiness_leaves_gaps_and_never_touches_the_truth() -> None:
    window, truth, _ = simulate_fleet(9, fault="nic-loss", hosts=32)
    assert 0 < np.isnan(window.values).mean() < 0.2
    assert truth.host is not None


@pytest.mark.parametrize("fault", ["nic-loss", "thermal-throttle", "ecc-storm", "straggler"])
def test_the_detector_finds_the_simulated_host(fault: str) -> None:
    window, truth, placement = simulate_fleet(1001, fault=fault, hosts=16, confounders=())
    suspects = Detector().judge(window, placement=placement).suspects
    assert [suspect.host for suspect in suspects if suspect.alarm_time] == [truth.host]
