"""Alerts open and join the right incident, and close it rightly."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from incidents.choices import IncidentStatus, Resolution
from incidents.models import Alert, Event, Inbox, InboxMessage, Incident
from incidents.services import inbox
from incidents.services.incidents import acknowledge, resolve
from incidents.services.opening import open_incident
from tests.factories import (
    AttemptFactory,
    ClusterFactory,
    EvidenceFactory,
    HostFactory,
    JobFactory,
    RankPlacementFactory,
    actor,
)

pytestmark = pytest.mark.django_db
START = "2026-11-30T06:20:07Z"
NEVER = "0001-01-01T00:00:00Z"


def alert(status: str = "firing", *, fingerprint: str = "f1", **labels: str) -> dict[str, Any]:
    given = {"alertname": "XidError", "severity": "critical", "hostname": "node-017", **labels}
    return {
        "status": status,
        "labels": {name: value for name, value in given.items() if value},
        "annotations": {"summary": "XID 79"},
        "startsAt": START,
        "endsAt": "2026-11-30T06:30:00Z" if status == "resolved" else NEVER,
        "fingerprint": fingerprint,
    }


def send(*alerts: dict[str, Any], name: str = "alertmanager") -> None:
    door = inbox.inbox_named(name)
    assert door is not None
    inbox.receive(actor=actor(), inbox=door, body={"version": "4", "alerts": list(alerts)})
    inbox.take_in(door.pk, owner="this test")
    assert not InboxMessage.objects.exclude(state="taken").exists()


def only() -> Incident:
    return Incident.objects.get()


def test_an_alert_that_names_a_host_opens_an_incident_of_it():
    send(alert())
    incident = only()
    assert incident.title == "XidError: XID 79"
    assert [host.name for host in incident.hosts.all()] == ["node-017"]
    assert (incident.severity, incident.source) == ("critical", "alertmanager")


def test_the_same_alert_again_changes_nothing():
    send(alert())
    before = Event.objects.count()
    send(alert())
    assert Incident.objects.count() == 1
    assert Event.objects.count() == before


def test_alerts_of_one_host_join_one_incident():
    send(alert(), alert(fingerprint="f2", alertname="NvLinkErrors", hostname="node-017.dc1"))
    assert only().alerts.count() == 2


def test_alerts_of_two_hosts_are_two_incidents():
    send(alert(), alert(fingerprint="f2", hostname="node-018"))
    assert Incident.objects.count() == 2


def test_an_alert_joins_the_incident_of_the_job_that_runs_on_its_host():
    attempt = AttemptFactory()
    host = HostFactory(cluster=attempt.job.cluster, name="node-017")
    RankPlacementFactory(attempt=attempt, host=host)
    known, _ = open_incident(actor=actor(), title="it hangs", attempt=attempt)
    send(alert())
    assert only().pk == known.pk


def test_an_alert_that_names_a_job_is_of_its_running_attempt():
    job = JobFactory(external_id="101")
    began = timezone.now() - timedelta(hours=2)
    AttemptFactory(job=job, number=1, started_at=began, ended_at=began + timedelta(hours=1))
    running = AttemptFactory(job=job, number=2)
    send(alert(job_id="101", hostname=""))
    assert only().attempt == running


def test_an_alert_joins_an_open_incident_that_names_its_host():
    known, _ = open_incident(actor=actor(), title="odd", hosts=["node-017"])
    send(alert())
    assert only().pk == known.pk


def test_an_alert_goes_to_the_only_cluster_that_knows_its_host():
    HostFactory(cluster=ClusterFactory(name="hall-2"), name="node-017")
    send(alert())
    assert only().cluster.name == "hall-2"


def test_an_alert_goes_to_the_cluster_of_its_inbox():
    hall = ClusterFactory(name="hall-3")
    inbox.save_inbox(
        actor=actor(),
        inbox=Inbox(),
        fields={"name": "hall-3", "kind": "alertmanager", "cluster": hall},
    )
    send(alert(), name="hall-3")
    assert only().cluster == hall


def test_a_bare_address_is_no_new_host():
    send(alert(hostname="", instance="10.0.0.7:9400"))
    assert not only().hosts.exists()


def test_an_instance_that_is_a_known_host_is_one():
    HostFactory(name="node-017")
    send(alert(hostname="", instance="node-017:9400"))
    assert [host.name for host in only().hosts.all()] == ["node-017"]


def test_an_incident_closes_when_its_last_alert_ends():
    send(alert(), alert(fingerprint="f2"))
    send(alert("resolved"))
    assert only().is_open
    send(alert("resolved", fingerprint="f2"))
    incident = only()
    assert (incident.status, incident.resolution) == ("resolved", "recovered")


def test_a_new_firing_after_the_end_opens_a_new_incident():
    send(alert())
    send(alert("resolved"))
    send({**alert(), "startsAt": "2026-11-30T09:00:00Z"})
    assert list(Incident.objects.order_by("id").values_list("status", flat=True)) == [
        "resolved",
        "triggered",
    ]


def test_an_old_firing_that_comes_late_opens_nothing():
    send(alert())
    send(alert("resolved"))
    send(alert())
    assert only().status == IncidentStatus.RESOLVED


def test_the_end_of_what_was_never_heard_of_is_no_news():
    send(alert("resolved"))
    assert not Incident.objects.exists()


def test_a_firing_whose_end_got_lost_does_not_hold_up_the_next():
    send(alert())
    again = {**alert(), "startsAt": "2026-11-30T09:00:00Z"}
    send(again)
    send({**again, "status": "resolved", "endsAt": "2026-11-30T09:30:00Z"})
    assert only().status == IncidentStatus.RESOLVED


def test_an_incident_that_someone_works_on_is_left_to_them():
    send(alert())
    acknowledge(actor=actor(), incident=only())
    send(alert("resolved"))
    assert only().status == IncidentStatus.ACKNOWLEDGED
    assert "someone works on it" in Event.objects.get(verb="alert.ended").text


def test_an_incident_with_evidence_is_left_open():
    send(alert())
    EvidenceFactory(incident=only())
    send(alert("resolved"))
    assert only().is_open


def test_an_incident_that_alerts_only_joined_is_left_open():
    open_incident(actor=actor(), title="odd", hosts=["node-017"])
    send(alert())
    send(alert("resolved"))
    assert only().is_open


def test_the_end_of_an_alert_does_not_touch_what_is_closed():
    send(alert())
    resolve(actor=actor(), incident=only(), resolution=Resolution.FALSE_ALARM)
    send(alert("resolved"))
    assert only().resolution == "false-alarm"
    assert not Alert.objects.filter(ended_at=None).exists()


def test_a_healthy_event_ends_every_alert_of_its_check():
    event = {"checkName": "Xid", "isFatal": True, "nodeName": "node-1", "isHealthy": False}
    door = inbox.inbox_named("nvsentinel")
    assert door is not None
    for more in (
        {"entitiesImpacted": [{"entityType": "GPU", "entityValue": "0"}]},
        {"entitiesImpacted": [{"entityType": "GPU", "entityValue": "1"}]},
        {"isHealthy": True},
    ):
        body = {"data": {"healthEvent": {**event, **more}}}
        inbox.receive(actor=actor(), inbox=door, body=body)
    assert inbox.take_in(door.pk, owner="this test") == 3
    assert only().status == IncidentStatus.RESOLVED


def test_a_message_that_cannot_be_read_says_why_and_stops_nothing():
    door = inbox.inbox_named("alertmanager")
    assert door is not None
    inbox.receive(actor=actor(), inbox=door, body={"alerts": [{"labels": {}}]})
    inbox.receive(actor=actor(), inbox=door, body={"alerts": [alert()]})
    inbox.take_in(door.pk, owner="this test")
    refused = InboxMessage.objects.get(state="refused")
    assert refused.error == "Alert 0 has no key."
    assert only()


def test_messages_wait_for_the_worker_that_holds_the_inbox():
    door = inbox.inbox_named("alertmanager")
    assert door is not None
    inbox.receive(actor=actor(), inbox=door, body={"alerts": [alert()]})
    until = timezone.now() + timedelta(seconds=30)
    Inbox.objects.update(lease_owner="another", lease_expires_at=until)
    assert inbox.take_in(door.pk, owner="this test") == 0
    assert inbox.inboxes_due() == []
