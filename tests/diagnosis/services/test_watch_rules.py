"""The watch heeds maintenance windows, ignore rules and overrides."""

import pytest

from diagnosis.models import (
    FaultType,
    IgnoreRule,
    MaintenanceWindow,
    Signature,
    SignatureOverride,
)
from diagnosis.simulator.fleet_paper import PaperTruth
from incidents.models import Incident
from tests.diagnosis.services.test_watch_slow import case
from tests.diagnosis.watched import Watched, at

__all__ = ["case"]
pytestmark = pytest.mark.django_db
#: What the metrics of the case implicate.
FAULTS = ("nic-packet-loss", "network-slow", "switch-congestion")


def window(watch: Watched, truth: PaperTruth, **fields) -> None:
    MaintenanceWindow.objects.create(
        cluster=watch.attempt.job.cluster,
        starts_at=at(truth.onset - 3600),
        ends_at=at(truth.onset + 36000),
        reason="new optics",
        **fields,
    )


def ignore(watch: Watched, truth: PaperTruth, **fields) -> None:
    IgnoreRule.objects.create(
        reason="known bad optics", expires_at=at(truth.onset + 36000), **fields
    )


def override(watch: Watched, code: str, **fields) -> None:
    fault = FaultType.objects.create(
        code=code, title=code, component="nic", fault_class="degradation", severity="medium",
        action="check-link",
    )  # fmt: skip
    signature = Signature.objects.create(
        code=code, fault_type=fault, pattern=code, stream="kernel", implicates="nic"
    )
    SignatureOverride.objects.create(
        cluster=watch.attempt.job.cluster, signature=signature, reason="oversubscribed", **fields
    )


def slow(watch: Watched, truth: PaperTruth) -> float | None:
    return watch.run(truth.onset - 180, truth.onset + 300, beat=60)


def test_a_host_under_maintenance_opens_nothing_and_the_watch_says_why(case):
    watch, truth = case
    window(watch, truth, hosts=[truth.host])
    assert slow(watch, truth) is None
    assert f"No incident is opened: {truth.host} is under maintenance" in watch.watch.summary
    assert "new optics" in watch.watch.summary


def test_a_job_under_maintenance_opens_nothing(case):
    watch, truth = case
    window(watch, truth, job=watch.attempt.job.external_id)
    assert slow(watch, truth) is None


def test_maintenance_of_another_host_changes_nothing(case):
    watch, truth = case
    window(watch, truth, hosts=["node-999"])
    assert slow(watch, truth) is not None


def accused() -> list[str]:
    """Whom the incidents that the watch opened accuse; the slower job is one whoever is ignored."""
    runs = [run for incident in Incident.objects.all() for run in incident.diagnoses.all()]
    return [suspect.target_host for run in runs for suspect in run.suspects.all()]


def test_an_ignore_rule_leaves_out_what_its_pattern_is_found_in(case):
    watch, truth = case
    ignore(watch, truth, host=truth.host, pattern=".")
    slow(watch, truth)
    assert accused() == []
    (run,) = Incident.objects.get().diagnoses.all()
    assert any("known bad optics" in line for line in run.trace)


def test_an_ignore_rule_of_another_host_leaves_out_nothing(case):
    watch, truth = case
    ignore(watch, truth, host="node-999", pattern=".")
    slow(watch, truth)
    assert truth.host in accused()


def test_a_cluster_s_own_action_for_a_fault_is_what_is_recommended(case):
    watch, truth = case
    for code in FAULTS:
        override(watch, code, action="watch")
    slow(watch, truth)
    answer = Incident.objects.get().diagnoses.first()
    assert answer is not None
    actions = {one.action for one in answer.recommendations.filter(target_host=truth.host)}
    assert actions == {"watch"}
    reasons = [one.reason for one in answer.recommendations.filter(target_host=truth.host)]
    assert "In this cluster: oversubscribed" in reasons[0]


def test_a_fault_that_is_off_in_the_cluster_accuses_nobody(case):
    watch, truth = case
    for code in FAULTS:
        override(watch, code, disabled=True)
    slow(watch, truth)
    assert accused() == []


def test_maintenance_that_begins_while_an_incident_is_open_closes_nothing(case):
    watch, truth = case
    assert slow(watch, truth) is not None
    window(watch, truth, hosts=[truth.host])
    watch.run(truth.onset + 360, truth.onset + 900, beat=60)
    assert Incident.objects.get().is_open
