"""The history of hosts and devices: written by one diagnosis, read by the next."""

import io
from datetime import timedelta

import pytest
from django.utils import timezone

from diagnosis.models import Signature
from diagnosis.services import drafts, replays, taxonomy
from diagnosis.services.history import history_for
from diagnosis.services.replay_run import run_slice
from diagnosis.services.run import run
from incidents.choices import Role
from incidents.filters import IncidentFilter
from incidents.models import Cluster, Device, FaultRecord, Host, Incident
from incidents.services.diagnoses import request_diagnosis
from incidents.services.evidence import attach_evidence
from tests.diagnosis.services.test_taxonomy import shipped_rows
from tests.factories import ClusterFactory, IncidentFactory, JobFactory, UserFactory, actor

pytestmark = pytest.mark.django_db

ME = actor(Role.TAXONOMIST)
XID_31 = "xid-31-mmu-fault"
UUID = "GPU-11111111-0000-0000-0000-00000000003d"
RULE = {"to": "critical", "key": "gpu", "count": 2, "window_hours": 336, "across_jobs": True}


@pytest.fixture
def cluster() -> Cluster:
    rows = [row for row in shipped_rows() if str(row["code"]).startswith("xid-")]
    taxonomy.load_shipped(actor=ME, shipped=rows)
    made: Cluster = ClusterFactory()
    return made


def dmesg(
    host: str, days: float, *, pci: str = "0000:3d:00", uuid: str = UUID, xid: str = "31"
) -> str:
    at = (timezone.now() - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S+00:00")
    named = f"{at} {host} kernel: NVRM: GPU at PCI:{pci}: {uuid}\n" if uuid else ""
    return (
        f"{named}{at} {host} kernel: NVRM: Xid (PCI:{pci}): {xid}, pid=13641, Ch 00000008, intr "
        "00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_10 faulted @ 0x7fd7_90743000.\n"
    )


def diagnosed(
    cluster: Cluster, text: str, host: str, *, days: float, owner: str = "ana"
) -> Incident:
    """An incident of a new job, with one host's kernel log, judged by the worker's own code."""
    incident: Incident = IncidentFactory(
        cluster=cluster,
        job=JobFactory(cluster=cluster, owner=owner),
        opened_at=timezone.now() - timedelta(days=days),
    )
    attach_evidence(
        actor=actor(), incident=incident, name=f"{host}.dmesg.log", stream=io.BytesIO(text.encode())
    )
    asked = incident.diagnoses.filter(state="queued").first()
    asked = asked or request_diagnosis(actor=actor(), incident=incident)
    assert run(asked.pk)
    incident.refresh_from_db()
    return incident


def switch_on(rule: dict[str, object] | None = None) -> None:
    Signature.objects.filter(code=XID_31).update(escalates=rule or RULE)


def test_a_finding_sticks_to_the_device_by_its_uuid(cluster):
    incident = diagnosed(cluster, dmesg("node-1", 5), "node-1", days=5)
    record = FaultRecord.objects.get(incident=incident)
    assert record.device is not None
    assert (record.code, record.host.name, record.device.uuid) == (XID_31, "node-1", UUID)
    assert record.device.seats.get().pci == "0000:3d:00.0"


def test_a_device_that_moves_keeps_its_past(cluster):
    diagnosed(cluster, dmesg("node-1", 5), "node-1", days=5)
    diagnosed(cluster, dmesg("node-2", 1, pci="0000:9b:00"), "node-2", days=1)
    (device,) = Device.objects.all()
    assert [one.host.name for one in device.fault_records.all()] == ["node-2", "node-1"]
    assert [(one.host.name, one.until is None) for one in device.seats.all()] == [
        ("node-2", True),
        ("node-1", False),
    ]


def test_without_a_uuid_the_place_stands_for_the_device_until_one_is_told(cluster):
    diagnosed(cluster, dmesg("node-1", 5, uuid=""), "node-1", days=5)
    assert Device.objects.get().identity == ""
    diagnosed(cluster, dmesg("node-1", 1), "node-1", days=1)
    device = Device.objects.get()
    assert (device.uuid, device.fault_records.count()) == (UUID, 2)


def test_an_incident_is_found_by_the_serial_number_that_the_kernel_told(cluster):
    at = timezone.now().strftime("%Y-%m-%dT%H:%M:%S+00:00")
    told = f"{at} n-1 kernel: NVRM: GPU 0000:3d:00.0: GPU serial number is {{}}.\n"
    incident = diagnosed(cluster, dmesg("n-1", 0) + told.format("1651844284255"), "n-1", days=0)
    diagnosed(cluster, dmesg("n-2", 0, uuid="GPU-2") + told.format("0000000000000"), "n-2", days=0)
    found = IncidentFilter({"q": "1651844284255"}, queryset=Incident.objects.all()).qs
    assert list(found) == [incident]
    assert not Device.objects.filter(serial__startswith="0").exists()


def test_a_newer_answer_replaces_what_an_older_one_wrote(cluster):
    incident = diagnosed(cluster, dmesg("node-1", 5), "node-1", days=5)
    assert run(request_diagnosis(actor=actor(), incident=incident).pk)
    assert FaultRecord.objects.filter(incident=incident).count() == 1


def test_a_repeat_on_one_gpu_in_another_host_and_job_isolates_and_says_why(cluster):
    switch_on()
    diagnosed(cluster, dmesg("node-1", 5), "node-1", days=5)
    again = diagnosed(cluster, dmesg("node-2", 1, pci="0000:9b:00"), "node-2", days=1, owner="bo")
    answer = again.diagnoses.get()
    assert answer.verdict_class == "critical"
    assert (
        f"escalated: {XID_31} on {UUID} of node-2: 2nd time in 14 days, over 2 jobs of 2 owners → "
        "critical, isolate-host"
    ) in answer.trace
    isolate = answer.recommendations.get(action="isolate-host")
    assert isolate.target_host == "node-2"
    assert "2nd time in 14 days" in isolate.reason


def test_the_rule_is_off_until_a_person_switches_it_on(cluster):
    for days, host in ((5, "node-1"), (1, "node-2")):
        last = diagnosed(cluster, dmesg(host, days), host, days=days, owner=host)
    assert not last.diagnoses.get().recommendations.filter(action="isolate-host").exists()


def test_the_same_bug_of_one_owner_escalates_nothing(cluster):
    switch_on()
    diagnosed(cluster, dmesg("node-1", 5), "node-1", days=5)
    again = diagnosed(cluster, dmesg("node-1", 1), "node-1", days=1)
    assert again.verdict_class != "critical"


def test_a_diagnosis_anew_does_not_count_its_own_incident_as_the_past(cluster):
    switch_on()
    incident = diagnosed(cluster, dmesg("node-1", 5), "node-1", days=5)
    assert history_for(incident, taxonomy.current(cluster.name).taxonomy).past == ()


def test_a_replay_shows_what_switching_a_rule_on_would_have_changed(cluster):
    diagnosed(cluster, dmesg("node-1", 5), "node-1", days=5)
    again = diagnosed(cluster, dmesg("node-2", 1), "node-2", days=1, owner="bo")
    (row,) = [row for row in taxonomy.rows() if row["code"] == XID_31]
    draft = drafts.start(actor=ME, author=UserFactory(role=Role.TAXONOMIST))
    drafts.put(actor=ME, draft=draft, code=XID_31, row={**row, "escalates": RULE})
    replay = replays.request_replay(actor=ME, draft=draft, days=7)
    while run_slice(replay.pk):
        pass
    (found,) = replay.differences.all()
    assert found.incident == again
    assert (found.before["isolated"], found.after["isolated"]) == ([], ["node-2"])


def test_a_host_that_keeps_breaking_scores_and_is_told_beside_the_evidence(cluster):
    for days in (20, 12, 6, 3):
        diagnosed(cluster, dmesg("node-1", days, xid="79"), "node-1", days=days)
    host = Host.objects.get(name="node-1")
    assert 0.15 < host.lemon_score < 0.5
    last = diagnosed(cluster, dmesg("node-1", 0, xid="79"), "node-1", days=0)
    told = last.diagnoses.get().findings.get(detector="history")
    assert told.text.startswith("node-1: named as the cause 4 times before, last 3 days ago")
