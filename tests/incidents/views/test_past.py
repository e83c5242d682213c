"""The past of hosts and devices, as records and as pages."""

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from incidents import selectors
from incidents.choices import DecisionKind, HostState, Outcome, Resolution
from incidents.figures.lemon import Standing
from incidents.models import Device, DeviceSeat, FaultRecord, Host, Incident
from incidents.selectors.offences import offences_of
from incidents.selectors.past import out_of_service
from incidents.services.decisions import decide, record_outcome
from incidents.services.hosts import set_state
from incidents.services.offenders import rescore, rescore_all
from incidents.services.results import SeatData
from incidents.services.seats import device_at, seat
from tests.factories import (
    DiagnosisFactory,
    HostFactory,
    IncidentFactory,
    RecommendationFactory,
    actor,
)

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def accused(host: Host, *, days: float = 1, score: float | None = 0.92, **fields) -> FaultRecord:
    incident: Incident = IncidentFactory(cluster=host.cluster, opened_at=NOW - timedelta(days=days))
    diagnosis = DiagnosisFactory(incident=incident, done=True, number=1)
    at = NOW - timedelta(days=days)
    return FaultRecord.objects.create(
        incident=incident, diagnosis=diagnosis, host=host, fault="xid-79", code="xid-79",
        first_at=at, last_at=at, score=score, role="culprit" if score else "", **fields,
    )  # fmt: skip


def test_incidents_of_a_host_are_those_that_its_faults_list():
    host = HostFactory()
    record = accused(host)
    named = IncidentFactory(cluster=host.cluster)
    named.hosts.add(host)
    IncidentFactory(cluster=host.cluster)
    assert list(selectors.incidents_of_host(host)) == [named, record.incident]


def gpu(host: Host, uuid: str = "GPU-1", pci: str = "0000:3d:00.0", **more) -> SeatData:
    return SeatData(kind="gpu", host=host.name, uuid=uuid, pci=pci, **more)


def sitting(host: Host, part: str, at: datetime) -> str:
    found = device_at(host, "gpu", part, at)
    return found.uuid if found else "nobody"


def standing(record: FaultRecord) -> Standing:
    (one,) = offences_of([record.host], before=timezone.now())[record.host_id]
    return one.accusation.standing


def test_what_became_of_a_decision_settles_how_much_an_accusation_counts():
    record = accused(HostFactory(name="node-1"))
    asked = RecommendationFactory(diagnosis=record.diagnosis, target_host="NODE-1.example")
    assert standing(record) is Standing.OPEN
    decision = decide(actor=actor(), recommendation=asked, kind=DecisionKind.ACCEPT)
    assert standing(record) is Standing.ACCEPTED
    record_outcome(actor=actor(), decision=decision, outcome=Outcome.PART_GOOD)
    assert standing(record) is Standing.CLEARED
    record.host.refresh_from_db()
    assert record.host.lemon_score == 0


def test_a_false_alarm_counts_for_nothing():
    record = accused(HostFactory())
    Incident.objects.filter(pk=record.incident_id).update(
        status="resolved", resolved_at=NOW, resolution=Resolution.FALSE_ALARM
    )
    assert standing(record) is Standing.CLEARED


def test_a_device_that_left_took_its_faults_along():
    host = HostFactory()
    seat(host, [gpu(host)], NOW - timedelta(days=9))
    accused(host, days=5, device=Device.objects.get())
    assert len(offences_of([host], before=NOW)[host.pk]) == 1
    seat(HostFactory(), [gpu(host)], NOW - timedelta(days=1))
    assert offences_of([host], before=NOW)[host.pk] == []


def test_scores_follow_the_faults_and_age():
    host = HostFactory()
    for days in (2, 5, 9):
        accused(host, days=days)
    assert rescore_all() == 1
    host.refresh_from_db()
    young = host.lemon_score
    rescore(Host.objects.all(), NOW + timedelta(days=200))
    host.refresh_from_db()
    assert host.lemon_score < young


def test_evidence_that_is_older_than_what_is_known_moves_no_device():
    here, there = HostFactory(), HostFactory()
    seat(here, [gpu(here)], NOW)
    seat(there, [gpu(there)], NOW - timedelta(days=30))
    assert DeviceSeat.objects.get(until=None).host == here


def test_another_device_in_the_same_place_ends_the_first_one_s_seat():
    host = HostFactory()
    seat(host, [gpu(host)], NOW - timedelta(days=2))
    seat(host, [gpu(host, uuid="GPU-2")], NOW)
    assert sitting(host, "0000:3d:00.0", NOW + timedelta(1)) == "GPU-2"
    assert sitting(host, "0000:3d:00.0", NOW - timedelta(1)) == "GPU-1"


def test_a_nameless_device_is_not_identified_across_a_repair():
    host = HostFactory()
    device_at(host, "gpu", "0000:3d:00.0", NOW - timedelta(days=3))
    set_state(actor=actor(), host=host, state=HostState.IN_REPAIR, note="GPU swapped")
    seat(host, [gpu(host)], timezone.now())
    assert Device.objects.count() == 2


def test_what_is_told_later_of_a_device_that_stays_in_its_place_is_taken():
    host = HostFactory()
    seat(host, [gpu(host)], NOW - timedelta(days=1))
    seat(host, [gpu(host, serial="1651844284255", model="H200")], NOW)
    seat(host, [gpu(host)], NOW)
    device = Device.objects.get()
    assert (device.serial, device.model) == ("1651844284255", "H200")
    assert device.seats.count() == 1


def test_a_number_alone_makes_no_device():
    host = HostFactory()
    assert device_at(host, "gpu", "3", NOW) is None
    seat(host, [gpu(host, index=3)], NOW)
    assert sitting(host, "3", NOW) == "GPU-1"


def test_a_part_that_is_only_a_number_is_shown_with_its_kind(responder: Client):
    host = HostFactory()
    seat(host, [gpu(host, index=3)], NOW)
    accused(host, part="3", device=Device.objects.get())
    assert ">GPU 3</a>" in responder.get(f"/hosts/{host.pk}").content.decode()


def test_times_out_of_service_have_an_end_where_the_next_state_began():
    host = HostFactory()
    for state in (HostState.ISOLATED, HostState.IN_REPAIR, HostState.IN_SERVICE):
        set_state(actor=actor(), host=host, state=state, note="T-1")
        host.refresh_from_db()
    repair, isolated = out_of_service(host)
    assert (repair.state, isolated.state) == (HostState.IN_REPAIR, HostState.ISOLATED)
    assert isolated.until == repair.since
    assert repair.until is not None


def test_a_host_s_page_shows_its_faults_devices_and_score(responder: Client):
    host = HostFactory(name="node-1")
    seat(host, [gpu(host, model="H100")], NOW - timedelta(days=9))
    record = accused(host, days=3, device=Device.objects.get(), part="0000:3d:00.0")
    page = responder.get(f"/hosts/{host.pk}").content.decode()
    for words in ("GPU-1", "H100", "0000:3d:00.0", record.incident.reference, "Repeat offender"):
        assert words in page


def test_a_device_s_page_shows_every_host_that_it_sat_in(responder: Client):
    first, second = HostFactory(name="node-1"), HostFactory(name="node-2")
    seat(first, [gpu(first)], NOW - timedelta(days=9))
    seat(second, [gpu(second)], NOW - timedelta(days=1))
    record = accused(first, days=5, device=Device.objects.get())
    page = responder.get(f"/devices/{record.device_id}").content.decode()
    for words in ("node-1", "node-2", "GPU-1", record.incident.reference):
        assert words in page


def test_hosts_are_sorted_by_their_score_page_by_page(responder: Client, monkeypatch):
    monkeypatch.setattr("incidents.views.places._PAGE", 2)
    for name, score in (("node-1", 0.1), ("node-2", 0.7), ("node-3", 0.4)):
        HostFactory(name=name, lemon_score=score)
    first = responder.get("/hosts", {"order": "worst"}).context["page"]
    rest = responder.get("/hosts", {"order": "worst", "after": first.next}).context["page"]
    assert [one.name for one in (*first.rows, *rest.rows)] == ["node-2", "node-3", "node-1"]
