"""Decisions that a later run with the same recommendation takes over."""

from typing import Any

import pytest

from incidents import selectors
from incidents.choices import DecisionKind, Outcome
from incidents.models import Decision, Event, Recommendation
from incidents.services import decisions, diagnoses
from incidents.services.results import DiagnosisResult, RecommendationData, TargetData
from tests.factories import DiagnosisFactory, RecommendationFactory, actor

pytestmark = pytest.mark.django_db


def accepted(**given) -> Decision:
    about = RecommendationFactory(diagnosis__number=1, **given)
    return decisions.decide(actor=actor(), recommendation=about, kind=DecisionKind.ACCEPT)


def judged_again(
    decision: Decision, *, action: str = "isolate-host", host: str = "node-001", number: int = 2
) -> Recommendation:
    incident = decision.recommendation.diagnosis.incident
    run = DiagnosisFactory(running=True, incident=incident, number=number)
    item = RecommendationData(
        action=action, target=TargetData(kind="host", name=host, host=host), reason="still"
    )
    result = DiagnosisResult(
        kind="crash",
        verdict_class="critical",
        summary="again",
        confidence=0.9,
        engine_version="1",
        taxonomy_version="1",
        recommendations=[item],
    )
    stored = diagnoses.store_result(pk=run.pk, owner="worker", result=result)
    found: Recommendation = stored.recommendations.get()
    return found


@pytest.mark.parametrize("host", ["node-001", "NODE-001.example.org"])
def test_the_same_recommendation_again_keeps_its_decision(host: str):
    first = accepted()
    carried = judged_again(first, host=host).decisions.get()
    assert (carried.kind, carried.standing, carried.carried_from) == ("accept", True, first)
    assert (carried.actor, carried.decided_at) == (first.actor, first.decided_at)


@pytest.mark.parametrize("other", [{"action": "reset-gpu"}, {"host": "node-002"}])
def test_another_action_or_target_is_a_new_question(other: dict[str, Any]):
    assert not judged_again(accepted(), **other).decisions.exists()


def test_a_decision_whose_outcome_is_known_is_done_with():
    first = accepted()
    decisions.record_outcome(actor=actor(), decision=first, outcome=Outcome.PART_GOOD)
    assert not judged_again(first).decisions.exists()


def test_a_third_run_names_the_first_decision():
    first = accepted()
    judged_again(first)
    assert judged_again(first, number=3).decisions.get().carried_from == first


def test_the_desk_no_longer_waits_for_what_was_decided():
    first = accepted()
    judged_again(first)
    assert not selectors.with_answer(selectors.incidents()).get().undecided


def test_carrying_adds_no_event_of_its_own():
    carried = judged_again(accepted()).decisions.get()
    verbs = list(Event.objects.order_by("id").values_list("verb", flat=True))
    assert verbs == ["recommendation.accepted", "diagnosis.done"]
    assert Event.objects.latest("id").data["carried_decisions"] == [carried.pk]


def test_a_decision_about_an_earlier_run_stands_in_the_newest_as_well():
    first = RecommendationFactory(diagnosis__number=1)
    again = RecommendationFactory(
        diagnosis=DiagnosisFactory(done=True, incident=first.diagnosis.incident, number=2)
    )
    made = decisions.decide(actor=actor(), recommendation=first, kind=DecisionKind.ACCEPT)
    assert again.decisions.get().carried_from == made
