"""Every kind of degradation in turn, told by a real Prometheus, under the watch."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.models import MetricSource
from diagnosis.simulator.exposition import Exposition
from diagnosis.simulator.fleet import START, fleet_placement, simulate_fleet
from diagnosis.simulator.fleet_confounders import CONFOUNDERS
from diagnosis.simulator.fleet_faults import FAULTS
from diagnosis.simulator.fleet_load import METRICS, healthy_fleet
from incidents.choices import IncidentKind, IncidentStatus, Resolution
from incidents.models import Diagnosis, Incident
from tests.diagnosis.watched import Watched, running_attempt
from tests.prometheus_server import prometheus

pytestmark = [pytest.mark.django_db, pytest.mark.long]

HOSTS, SAMPLES, STEP = 64, 360, 15.0
ONSET, RECOVERY = 150, 250
FAULTY_HOST, FAULTY_GPU, FAULTY_NIC = 23, 1, "mlx5_1"
#: Faults of one device, told by the device's own metrics; the rest are the host's.
GPU_FAULTS = {
    "thermal-throttle",
    "pcie-degraded",
    "nvlink-degraded",
    "ecc-storm",
    "power-cap",
    "fan-wear",
}
NIC_FAULTS = {"nic-loss", "flapping-retransmits", "pfc-storm"}
#: How late the onset may be dated: what grows slowly is seen when it has grown.
GROWING, LATE_S, GROWING_LATE_S = {"memory-leak", "fan-wear"}, 150.0, 600.0


@dataclass(frozen=True)
class Told:
    """Text for the server to hold."""

    content: str

    def text(self) -> str:
        return self.content


def faulty_window(kind: str) -> tuple[MetricWindow, Placement]:
    """A fleet with one fault, which ends: afterwards everything is as it would have been."""
    random = np.random.default_rng(list(FAULTS).index(kind))
    fleet = healthy_fleet(random, hosts=HOSTS, samples=SAMPLES, interval=STEP, start=START)
    without = fleet.values.copy()
    FAULTS[kind](fleet, FAULTY_HOST, ONSET)
    fleet.values[:, :, RECOVERY:] = without[:, :, RECOVERY:]
    np.maximum(fleet.values, 0.0, out=fleet.values)
    names = tuple(f"node-{number:03d}" for number in range(HOSTS))
    window = MetricWindow(fleet.values, METRICS, names, fleet.time)
    return window, fleet_placement(names, fleet.stage)


def watched_at(url: str, placement: Placement) -> Watched:
    MetricSource.objects.create(name="prometheus", url=url)
    return Watched(running_attempt(placement, start=START - 300))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", FAULTS)
def test_the_host_and_its_device_are_named_dated_and_closed_after_recovery(
    kind: str, tmp_path: Path
):
    window, placement = faulty_window(kind)
    host = window.hosts[FAULTY_HOST]
    onset, recovery = START + STEP * ONSET, START + STEP * RECOVERY
    told = Exposition(faulty=(host, FAULTY_NIC), faulty_gpu=(host, FAULTY_GPU)).text(window)
    with prometheus(tmp_path / "prometheus", Told(told)) as url:
        watched = watched_at(url, placement)
        opened = watched.run(onset - 300, recovery - 60, beat=60)
        assert opened is not None
        assert opened > onset

        incident = Incident.objects.get()
        newest = incident.diagnoses.first()
        assert isinstance(newest, Diagnosis)
        suspect = newest.suspects.get(position=1)
        assert incident.kind == IncidentKind.DEGRADATION
        assert suspect.target_host == host
        if kind in GPU_FAULTS:
            assert suspect.target_gpu == str(FAULTY_GPU)
        if kind in NIC_FAULTS:
            assert suspect.target_nic == FAULTY_NIC
        assert incident.onset_at is not None
        late = incident.onset_at.timestamp() - onset
        print(  # noqa: T201 - the figures are what this is run for
            f"{kind}: {suspect.target_host} gpu {suspect.target_gpu!r} nic {suspect.target_nic!r}, "
            f"opened {opened - onset:+.0f} s, onset dated {late:+.0f} s"
        )
        assert -LATE_S <= late <= (GROWING_LATE_S if kind in GROWING else LATE_S)

        watched.run(recovery, recovery + 1320, beat=120)
    incident = Incident.objects.get()
    assert incident.status == IncidentStatus.RESOLVED
    assert incident.resolution == Resolution.RECOVERED


@pytest.mark.timeout(900)
@pytest.mark.parametrize("confounder", CONFOUNDERS)
def test_what_is_nobodys_fault_opens_nothing(confounder: str, tmp_path: Path):
    window, _, placement = simulate_fleet(
        list(CONFOUNDERS).index(confounder),
        confounders=[confounder],
        hosts=HOSTS,
        samples=SAMPLES,
        interval=STEP,
    )
    with prometheus(tmp_path / "prometheus", Told(Exposition().text(window))) as url:
        watched_at(url, placement).run(START + 900, START + STEP * SAMPLES, beat=60)
    assert not Incident.objects.exists()
