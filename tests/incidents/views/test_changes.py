"""What people do from the incident's page, and what refuses them."""

import json

import pytest
from django.test import Client
from django.utils import timezone

from incidents.choices import DecisionKind, Source
from incidents.models import Decision, Host, Incident, Recommendation, User
from incidents.roles import Actor
from incidents.services import incidents as services
from incidents.services.decisions import decide
from tests.factories import (
    DiagnosisFactory,
    IncidentFactory,
    RecommendationFactory,
    UserFactory,
)

HTMX = {"HX-Request": "true"}


@pytest.fixture
def incident(db) -> Incident:
    made: Incident = IncidentFactory()
    return made


@pytest.fixture
def recommendation(incident: Incident):
    return RecommendationFactory(diagnosis=DiagnosisFactory(incident=incident, done=True))


def address(incident: Incident, what: str) -> str:
    return f"/incidents/{incident.pk}/{what}"


def deciding(recommendation) -> str:
    return address(recommendation.diagnosis.incident, f"recommendations/{recommendation.pk}")


def someone_else() -> Actor:
    return Actor.of_user(UserFactory(username="ben"), source=Source.API)


def test_accepting_is_recorded_under_ones_name(responder: Client, recommendation):
    responder.post(deciding(recommendation), {"kind": "accept", "seen": 0})
    decision = Decision.objects.get()
    assert (decision.kind, decision.actor, decision.standing) == ("accept", "anna", True)


def test_the_notice_and_the_page_offer_to_take_a_decision_back(
    responder: Client, viewer: Client, recommendation
):
    answer = responder.post(deciding(recommendation), {"kind": "accept"}, headers=HTMX)
    undo = json.loads(answer["HX-Trigger"])["notice"]["undo"]
    page = f"/incidents/{recommendation.diagnosis.incident.pk}"
    assert f'action="{undo}"' in responder.get(page).content.decode()
    assert f'action="{undo}"' not in viewer.get(page).content.decode()
    assert viewer.post(undo).status_code == 403
    responder.post(undo, headers=HTMX)
    assert not Decision.objects.filter(standing=True).exists()
    assert f'action="{undo}"' not in responder.get(page).content.decode()


def test_an_isolation_without_a_host_asks_for_one_in_place_of_accept(
    responder: Client, recommendation
):
    Recommendation.objects.update(target_host="", target_kind="rank", target_rank=5)
    page = responder.get(f"/incidents/{recommendation.diagnosis.incident.pk}").content.decode()
    assert "Name the host…" in page
    assert 'value="accept"' not in page
    response = responder.post(deciding(recommendation), {"kind": "accept"}, headers=HTMX)
    assert (response.status_code, Decision.objects.count()) == (422, 0)


def test_rejecting_needs_a_reason(responder: Client, recommendation):
    response = responder.post(deciding(recommendation), {"kind": "reject"}, headers=HTMX)
    assert (response.status_code, Decision.objects.count()) == (422, 0)


def test_changing_keeps_action_target_and_reason(responder: Client, recommendation):
    responder.post(
        deciding(recommendation),
        {
            "kind": "change",
            "changed_action": "reset-gpu",
            "changed_target": "node-002",
            "reason": "the slot was swapped",
            "seen": 0,
        },
    )
    decision = Decision.objects.get()
    assert (decision.changed_action, decision.changed_target) == ("reset-gpu", "node-002")
    assert decision.reason == "the slot was swapped"


def test_a_decision_is_seen_in_the_timeline(responder: Client, recommendation):
    responder.post(deciding(recommendation), {"kind": "accept", "seen": 0})
    page = responder.get(f"/incidents/{recommendation.diagnosis.incident_id}").content.decode()
    assert "Accepted: Isolate host" in page


def test_the_second_of_two_deciders_is_told_who_was_first(responder: Client, recommendation):
    decide(actor=someone_else(), recommendation=recommendation, kind=DecisionKind.ACCEPT)
    response = responder.post(
        deciding(recommendation), {"kind": "reject", "reason": "no", "seen": 0}, headers=HTMX
    )
    assert response.status_code == 412
    assert "Changed meanwhile by ben" in response.content.decode()
    assert Decision.objects.get().kind == "accept"


def test_a_recommendation_of_another_incident_is_not_found(responder: Client, recommendation):
    other = IncidentFactory()
    response = responder.post(
        address(other, f"recommendations/{recommendation.pk}"), {"kind": "accept"}
    )
    assert response.status_code == 404


def test_a_viewer_cannot_decide(viewer: Client, recommendation):
    response = viewer.post(deciding(recommendation), {"kind": "accept", "seen": 0})
    assert (response.status_code, Decision.objects.count()) == (403, 0)
    assert "role" in response.content.decode()


def test_a_stale_version_overwrites_nothing_and_says_who_was_first(
    responder: Client, incident: Incident
):
    services.acknowledge(actor=someone_else(), incident=incident)
    response = responder.post(
        address(incident, "resolve"), {"version": 1, "resolution": "false-alarm"}, headers=HTMX
    )
    incident.refresh_from_db()
    assert (response.status_code, incident.status) == (412, "acknowledged")
    assert "Changed meanwhile by ben" in response.content.decode()
    assert "stale" in response["HX-Trigger"]


def test_the_second_is_shown_both_versions_and_what_they_wanted(
    responder: Client, incident: Incident
):
    services.acknowledge(actor=someone_else(), incident=incident)
    given = {"version": 1, "resolution": "user-code", "note": "a bug of ours"}
    page = responder.post(address(incident, "resolve"), given, headers=HTMX).content.decode()
    for words in ("triggered", "acknowledged", "a bug of ours", "User&#x27;s code"):
        assert words in page
    assert 'data-anyway="2"' in page


def test_without_scripts_a_stale_version_is_told_on_the_page(responder: Client, incident: Incident):
    services.acknowledge(actor=someone_else(), incident=incident)
    page = responder.post(address(incident, "mitigate"), {"version": 1}, follow=True)
    assert "Changed meanwhile by ben" in page.content.decode()


def test_resolving_needs_a_resolution(responder: Client, incident: Incident):
    response = responder.post(address(incident, "resolve"), {"version": 1}, headers=HTMX)
    incident.refresh_from_db()
    assert (response.status_code, incident.status) == (422, "triggered")


def test_an_incident_goes_from_acknowledged_to_resolved_and_back(
    responder: Client, incident: Incident
):
    steps = [
        ("acknowledge", {}, "acknowledged"),
        ("mitigate", {"note": "drained"}, "mitigated"),
        ("resolve", {"resolution": "part-isolated"}, "resolved"),
        ("reopen", {}, "triggered"),
    ]
    for version, (step, given, status) in enumerate(steps, start=1):
        responder.post(address(incident, step), {"version": version, **given})
        incident.refresh_from_db()
        assert incident.status == status


def test_a_step_that_the_status_does_not_allow_says_why(responder: Client, incident: Incident):
    response = responder.post(address(incident, "reopen"), {"version": 1}, headers=HTMX)
    assert response.status_code == 409
    assert "triggered" in response.content.decode()


@pytest.mark.parametrize(("name", "found"), [("anna", True), ("", False)])
def test_an_incident_is_given_to_someone_or_to_nobody(
    name: str, found: bool, responder: Client, anna: User, incident: Incident
):
    responder.post(address(incident, "assign"), {"version": 1, "assignee": name})
    incident.refresh_from_db()
    assert (incident.assignee == anna) is found


def test_an_incident_is_not_given_to_someone_unknown(responder: Client, incident: Incident):
    response = responder.post(
        address(incident, "assign"), {"version": 1, "assignee": "nobody-known"}, headers=HTMX
    )
    assert response.status_code == 422


def test_a_note_is_shown_as_text_whatever_it_holds(responder: Client, incident: Incident):
    responder.post(address(incident, "note"), {"text": "<script>alert(1)</script>"})
    page = responder.get(f"/incidents/{incident.pk}").content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_running_again_queues_one_more_run(
    responder: Client, incident: Incident, django_capture_on_commit_callbacks
):
    DiagnosisFactory(incident=incident, done=True, number=1)
    responder.post(address(incident, "diagnose"))
    assert list(incident.diagnoses.values_list("number", "state")) == [(2, "queued"), (1, "done")]


@pytest.mark.parametrize(
    "what",
    ["acknowledge", "mitigate", "resolve", "reopen", "assign", "correct", "note", "diagnose"],
)
def test_nothing_changes_by_following_a_link(what: str, responder: Client, incident: Incident):
    assert responder.get(address(incident, what)).status_code == 405


@pytest.mark.parametrize(
    ("what", "given"),
    [
        ("acknowledge", {"version": 1}),
        ("mitigate", {"version": 1}),
        ("resolve", {"version": 1, "resolution": "other"}),
        ("assign", {"version": 1}),
        ("correct", {"title": "x", "kind": "hang", "severity": "low"}),
        ("note", {"text": "hello"}),
        ("diagnose", {}),
    ],
)
def test_a_viewer_changes_nothing(
    what: str, given: dict[str, object], viewer: Client, incident: Incident
):
    before = (incident.version, incident.events.count(), incident.diagnoses.count())
    assert viewer.post(address(incident, what), given).status_code == 403
    incident.refresh_from_db()
    assert before == (incident.version, incident.events.count(), incident.diagnoses.count())


def test_a_resolved_incident_offers_to_reopen_it(responder: Client):
    resolved = IncidentFactory(status="resolved", resolution="other", resolved_at=timezone.now())
    page = responder.get(f"/incidents/{resolved.pk}").content.decode()
    assert "Reopen" in page
    assert "Resolve…" not in page


def test_a_resolved_incident_offers_no_decision(responder: Client):
    resolved = IncidentFactory(status="resolved", resolution="other", resolved_at=timezone.now())
    RecommendationFactory(diagnosis=DiagnosisFactory(incident=resolved, done=True))
    page = responder.get(f"/incidents/{resolved.pk}").content.decode()
    assert "not decided" in page
    assert "data-accept" not in page


def test_an_incident_is_corrected_from_its_page(responder: Client, incident: Incident):
    form = responder.get(address(incident, "correction"), headers=HTMX).content.decode()
    assert f'value="{incident.title}"' in form
    given = {"version": 1, "title": "It hangs", "kind": "hang", "severity": "high", "attempt": ""}
    responder.post(address(incident, "correct"), given)
    incident.refresh_from_db()
    assert (incident.title, incident.kind, incident.severity) == ("It hangs", "hang", "high")


def test_the_correction_works_without_scripts(responder: Client, incident: Incident):
    page = responder.get(address(incident, "correction")).content.decode()
    assert "<html" in page
    assert f'action="{address(incident, "correct")}"' in page


def test_accepting_an_isolation_says_what_is_left_to_do(responder: Client, recommendation):
    responder.post(deciding(recommendation), {"kind": "accept", "seen": 0})
    host = Host.objects.get()
    page = responder.get(f"/incidents/{recommendation.diagnosis.incident_id}").content.decode()
    assert f'href="/hosts/{host.pk}">node-001</a> is noted as suspect; once it is out' in page
    assert "note on its page that it is isolated" in page
