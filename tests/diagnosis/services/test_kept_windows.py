"""The metric window of an incident: kept as evidence, read back whole, judged again."""

import numpy as np
import pytest

from diagnosis.core.metrics import MetricWindow
from diagnosis.models import MetricPicture, MetricSource
from diagnosis.services.kept_windows import keep_window, kept_window
from diagnosis.services.run import run
from diagnosis.simulator.fleet_paper import paper_case
from incidents.choices import EvidenceKind
from incidents.models import Evidence, Incident
from incidents.roles import Actor
from incidents.services.diagnoses import request_diagnosis
from tests.diagnosis.fleet_source import FleetSource
from tests.diagnosis.watched import Watched, running_attempt
from tests.factories import IncidentFactory

pytestmark = pytest.mark.django_db


def window_of(seed: int, hosts: int = 40, samples: int = 90) -> MetricWindow:
    random = np.random.default_rng(seed)
    values = random.normal(100, 3, size=(3, hosts, samples)).astype(np.float32)
    values[0, 2, 10:20] = np.nan
    names = tuple(f"node-{number:03d}" for number in range(hosts))
    time = 1.8e9 + 15.0 * np.arange(samples, dtype=np.float64)
    return MetricWindow(values, ("gpu_temp_c", "net_tx_gbps", "retrans_s"), names, time)


def test_a_kept_window_comes_back_as_it_was():
    window = window_of(1)

    evidence = keep_window(IncidentFactory(), window)

    assert evidence is not None
    assert evidence.kind == EvidenceKind.METRICS
    back = kept_window(evidence)
    np.testing.assert_array_equal(back.values, window.values)
    assert (back.metrics, back.hosts) == (window.metrics, window.hosts)


def test_a_window_that_the_store_does_not_take_is_no_error(settings):
    settings.EVIDENCE_MAX_BYTES = 100

    assert keep_window(IncidentFactory(), window_of(2)) is None


def test_a_watched_slowdown_is_judged_again_after_its_server_has_forgotten():
    window, truth, placement = paper_case(6, hosts=8, samples=300, onset=120, recovery=290)
    MetricSource.objects.create(name="prometheus", url="http://metrics.invalid")
    attempt = running_attempt(placement, start=float(window.time[0]) - 300)
    watched = Watched(attempt, ask=FleetSource(window, nic=truth.nic))
    watched.run(truth.onset - 180, truth.onset + 420, beat=60)
    incident = Incident.objects.get()
    assert Evidence.objects.filter(incident=incident, kind=EvidenceKind.METRICS).exists()
    MetricSource.objects.all().delete()

    again = request_diagnosis(actor=Actor.system(), incident=incident)
    run(again.pk)

    again.refresh_from_db()
    suspect = again.suspects.get(position=1)
    drawn = MetricPicture.objects.get(diagnosis=again).data
    assert suspect.target_host == truth.host
    assert drawn["map"]["hosts"][0] == truth.host
    assert drawn["shifts"][0]["host"] == truth.host
