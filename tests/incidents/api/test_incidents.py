"""Incidents: opening, joining, changing, finding, notes."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from incidents.choices import Role
from incidents.models import Event, Host, Incident
from tests.factories import (
    AttemptFactory,
    HostFactory,
    IncidentFactory,
    JobFactory,
    SuspectFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db
INCIDENTS = "/api/v1/incidents"


def opened(api: APIClient, **body: Any) -> Any:
    return api.post(INCIDENTS, body, format="json")


def changed(api: APIClient, incident: Incident, **body: Any) -> Any:
    return api.patch(f"{INCIDENTS}/{incident.pk}", body, format="json", HTTP_IF_MATCH="*")


def test_an_incident_of_an_attempt_knows_job_cluster_and_title(api: APIClient):
    attempt = AttemptFactory(number=4, job__owner="alice")
    made = opened(api, attempt=attempt.pk, kind="hang", onset_at="2026-11-30T07:20:07+01:00")
    shown = made.json()
    assert made.status_code == 201
    assert api.get(made["Location"]).json() == shown
    assert shown["title"] == "pretrain, attempt 4 broke"
    assert (shown["job"]["owner"], shown["attempt"]["number"]) == ("alice", 4)
    assert shown["cluster"] == attempt.job.cluster.name
    assert shown["onset_at"] == "2026-11-30T06:20:07Z"
    assert (shown["reference"], shown["status"]) == (f"INC-{shown['id']}", "triggered")


def test_an_incident_of_hosts_registers_them(api: APIClient):
    shown = opened(api, hosts=["node-1", "NODE-1.local", "node-2"], cluster="hall-2").json()
    assert sorted(shown["hosts"]) == ["node-1", "node-2"]
    assert (shown["cluster"], shown["title"]) == ("hall-2", "node-1, NODE-1.local, node-2")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("node-[001-100]", "write each host out"),
        ("a,b", "write each host out"),
        ("ALL", "every host"),
        ("a b;rm", "letters, digits"),
        ("-A", "letter or digit first"),
        ("n\u00f8de", "letters, digits"),
        ("n" * 254, "253"),
    ],
)
def test_what_cannot_be_a_hosts_name_is_refused_at_its_place(api: APIClient, name: str, told: str):
    refused = opened(api, title="t", hosts=["node-1", name])
    assert (refused.status_code, Host.objects.count()) == (400, 0)
    (error,) = refused.json()["errors"]
    assert error["pointer"] == "#/hosts/1"
    assert told in error["detail"]


def test_a_title_alone_is_enough(api: APIClient):
    assert opened(api, title="training is slow").status_code == 201


def test_nothing_at_all_is_not(api: APIClient):
    assert opened(api, kind="hang").status_code == 400


def test_an_attempt_of_another_job_is_refused(api: APIClient):
    answer = opened(api, attempt=AttemptFactory().pk, job=JobFactory().pk)
    assert answer.json()["errors"][0]["pointer"] == "#/attempt"


@pytest.mark.parametrize("by", ["dedup_key", "attempt"])
def test_a_second_report_joins_the_open_incident(api: APIClient, by: str):
    about = {"dedup_key": "OPS-1"} if by == "dedup_key" else {"attempt": AttemptFactory().pk}
    first = opened(api, title="slow", kind="degradation", **about)
    second = opened(api, title="hangs", kind="hang", severity="critical", **about)
    assert (second.status_code, second.json()["id"]) == (200, first.json()["id"])
    assert (second.json()["kind"], second.json()["severity"]) == ("hang", "critical")


def test_the_life_of_an_incident(api: APIClient):
    incident = IncidentFactory()
    steps = [
        {"status": "acknowledged"},
        {"status": "mitigated", "note": "drained"},
        {"status": "resolved", "resolution": "part-isolated", "note": "RMA"},
        {"status": "triggered", "note": "again"},
    ]
    seen = [changed(api, incident, **step).json() for step in steps]
    assert [one["status"] for one in seen] == [step["status"] for step in steps]
    assert [one["version"] for one in seen] == [2, 3, 4, 5]
    assert seen[2]["resolution_note"] == "RMA"


def test_acknowledging_takes_it_on(program: Callable[..., APIClient]):
    owner = UserFactory(username="alice")
    shown = changed(program(Role.RESPONDER, owner=owner), IncidentFactory(), status="acknowledged")
    assert shown.json()["assignee"] == "alice"


def test_assignee_and_status_change_together(api: APIClient):
    UserFactory(username="bob")
    shown = changed(api, IncidentFactory(), assignee="bob", status="acknowledged").json()
    assert (shown["assignee"], shown["status"], shown["version"]) == ("bob", "acknowledged", 3)


def test_both_or_neither_are_changed(api: APIClient):
    UserFactory(username="bob")
    incident = IncidentFactory(status="mitigated")
    assert changed(api, incident, assignee="bob", status="acknowledged").status_code == 409
    incident.refresh_from_db()
    assert (incident.assignee, incident.version) == (None, 1)


def test_a_status_that_stands_already_changes_nothing(api: APIClient):
    incident = IncidentFactory(status="acknowledged")
    assert changed(api, incident, status="acknowledged").json()["version"] == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#"),
        ({"status": "resolved"}, "#/resolution"),
        ({"status": "mitigated", "resolution": "other"}, "#/resolution"),
        ({"assignee": "ghost"}, "#/assignee"),
        ({"note": "x"}, "#"),
        ({"title": "", "status": "mitigated"}, "#/title"),
        ({"severity": "awful"}, "#/severity"),
        ({"attempt": 999}, "#/attempt"),
        ({"dedup_key": "x", "status": "mitigated"}, "#/dedup_key"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused_by_field(
    api: APIClient, body: dict[str, str], pointer: str
):
    answer = changed(api, IncidentFactory(), **body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_a_note_is_in_the_timeline_with_who_wrote_it(api: APIClient):
    incident = IncidentFactory()
    note = api.post(f"{INCIDENTS}/{incident.pk}/notes", {"text": "vendor called"}, format="json")
    assert note.status_code == 201
    assert note.json()["text"] == "vendor called"
    assert Event.objects.get(pk=note.json()["id"]).source == "api"


@pytest.mark.parametrize(
    "query",
    [
        "status=acknowledged",
        "status=open&kind=crash",
        "class=critical",
        "severity=high",
        "cluster=hall-2",
        "owner=alice",
        "assignee=bob",
        "host=NODE-017.local",
        "dedup_key=OPS-1",
        "diagnosis_state=done",
        "q=uncorrectable",
        "q=node-017",
        "q=xid-95",
        "opened_before=2026-01-02T00:00:00Z",
    ],
)
def test_each_filter_leaves_the_one_that_it_is_about(api: APIClient, query: str):
    job = JobFactory(cluster__name="hall-2", owner="alice")
    wanted = IncidentFactory(
        title="uncorrectable ECC",
        status="acknowledged",
        kind="crash",
        severity="high",
        verdict_class="critical",
        diagnosis_state="done",
        dedup_key="OPS-1",
        job=job,
        cluster=job.cluster,
        assignee=UserFactory(username="bob"),
        opened_at="2026-01-01T00:00:00Z",
    )
    wanted.hosts.add(HostFactory(name="node-017"))
    SuspectFactory(diagnosis__incident=wanted, fault="xid-95")
    IncidentFactory()
    found = api.get(f"{INCIDENTS}?{query}").json()["results"]
    assert [row["id"] for row in found] == [wanted.pk]


def test_me_and_none_stand_for_people(program: Callable[..., APIClient]):
    alice = UserFactory(username="alice")
    mine, nobodys = IncidentFactory(assignee=alice), IncidentFactory()
    client = program(Role.VIEWER, owner=alice)
    alice.role = Role.VIEWER
    alice.save()
    found = [
        client.get(f"{INCIDENTS}?assignee={who}").json()["results"][0]["id"]
        for who in ("me", "none")
    ]
    assert found == [mine.pk, nobodys.pk]


def test_what_was_said_at_the_opening_is_corrected(api: APIClient):
    attempt = AttemptFactory(number=3)
    body = {"title": "It hangs", "kind": "hang", "severity": "high", "attempt": attempt.pk}
    shown = changed(api, IncidentFactory(), **body).json()
    assert {name: shown[name] for name in ("title", "kind", "severity", "version")} == {
        "title": "It hangs",
        "kind": "hang",
        "severity": "high",
        "version": 2,
    }
    assert (shown["job"]["id"], shown["attempt"]["number"]) == (attempt.job.pk, 3)
    assert shown["cluster"] == attempt.job.cluster.name


def test_a_correction_needs_the_state_that_it_is_about(api: APIClient):
    at = f"{INCIDENTS}/{IncidentFactory().pk}"
    assert api.patch(at, {"title": "x"}, format="json").status_code == 428
    stale = api.patch(at, {"title": "x"}, format="json", HTTP_IF_MATCH='"7-abc"')
    assert stale.status_code == 412
