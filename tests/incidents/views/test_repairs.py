"""Noting what repair found."""

import pytest
from django.test import Client
from django.urls import reverse

from incidents.choices import DecisionKind, Outcome
from incidents.models import Decision, Host, JudgedRule
from incidents.services.decisions import decide
from tests.factories import DiagnosisFactory, RecommendationFactory, SuspectFactory, actor


@pytest.fixture
def decision(db) -> Decision:
    run = DiagnosisFactory(done=True)
    SuspectFactory(diagnosis=run, position=1, fault="xid-79")
    advice = RecommendationFactory(diagnosis=run)
    return decide(actor=actor(), recommendation=advice, kind=DecisionKind.ACCEPT)


def address(decision: Decision) -> str:
    host = Host.objects.get(normalised_name="node-001")
    return reverse("incidents:repaired", args=[host.pk, decision.pk])


def test_a_part_that_was_good_counts_against_the_rule(responder: Client, decision) -> None:
    responder.post(address(decision), {"found": "part-good", "note": "passed every test"})

    decision.refresh_from_db()
    assert (decision.outcome, decision.outcome_note) == (Outcome.PART_GOOD, "passed every test")
    assert not JudgedRule.objects.get(code="xid-79").right


def test_without_a_choice_nothing_is_noted(responder: Client, decision) -> None:
    answer = responder.post(address(decision), {"note": "hm"}, follow=True)

    decision.refresh_from_db()
    assert decision.outcome == Outcome.PENDING
    assert "Choose what repair found." in answer.content.decode()


def test_a_viewer_may_not_note_it(viewer: Client, decision) -> None:
    assert viewer.post(address(decision), {"found": "part-bad"}).status_code == 403


def test_a_decision_about_another_host_is_not_found_here(responder: Client, decision) -> None:
    other = Host.named(Host.objects.get().cluster, "node-099")
    other.save()

    answer = responder.post(reverse("incidents:repaired", args=[other.pk, decision.pk]))

    assert answer.status_code == 404


def test_the_hosts_page_lists_the_decision_with_the_form(responder: Client, decision) -> None:
    host = Host.objects.get(normalised_name="node-001")

    page = responder.get(reverse("incidents:host", args=[host.pk])).content.decode()

    assert address(decision) in page
