"""What diagnoses and decisions of an incident add up to."""

import pytest
from django.utils import timezone

from incidents.choices import Action, DecisionKind, Outcome
from incidents.models import Incident, JudgedRule, Reckoning, Recommendation
from incidents.services.decisions import decide, record_outcome
from incidents.services.reckoning import reckon
from tests.factories import (
    DiagnosisFactory,
    FindingFactory,
    IncidentFactory,
    RecommendationFactory,
    SuspectFactory,
    actor,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def advised() -> Recommendation:
    """The advice of an answer whose second suspect, a GPU of node-001, is the one to isolate."""
    run = DiagnosisFactory(done=True, incident=IncidentFactory())
    other = {"target_host": "node-009", "fault": "nic-down", "role": "possible"}
    SuspectFactory(diagnosis=run, position=1, **other)
    suspect = SuspectFactory(
        diagnosis=run, position=2, target_kind="gpu", target_gpu="3", fault="xid-79"
    )
    suspect.findings.add(FindingFactory(diagnosis=run, detector="silence"))
    suspect.findings.add(FindingFactory(diagnosis=run, detector="root-diag", weight=-0.5))
    return RecommendationFactory(diagnosis=run, target_host="NODE-001")


def reckoned(advised: Recommendation) -> Reckoning:
    return Reckoning.objects.get(incident=advised.diagnosis.incident)


def rules() -> set[tuple[str, str, bool]]:
    return set(JudgedRule.objects.values_list("kind", "code", "right"))


def test_an_accepted_isolation_counts_for_the_rules_that_spoke_for_its_suspect(advised) -> None:
    decide(actor=actor(), recommendation=advised, kind=DecisionKind.ACCEPT)

    assert rules() == {("fault", "xid-79", True), ("detector", "silence", True)}


def test_the_place_of_the_cause_is_kept(advised) -> None:
    decide(actor=actor(), recommendation=advised, kind=DecisionKind.ACCEPT)

    assert reckoned(advised).place == 2


def test_blame_that_moves_to_another_suspect_counts_for_its_place(advised) -> None:
    decide(
        actor=actor(),
        recommendation=advised,
        kind=DecisionKind.CHANGE,
        reason="the neighbour was bad",
        changed_action=Action.ISOLATE_HOST,
        changed_target="node-009",
    )

    assert (reckoned(advised).place, reckoned(advised).right) == (1, False)


def test_a_part_that_repair_finds_good_makes_the_rule_wrong(advised) -> None:
    decision = decide(actor=actor(), recommendation=advised, kind=DecisionKind.ACCEPT)

    record_outcome(actor=actor(), decision=decision, outcome=Outcome.PART_GOOD)

    assert ("fault", "xid-79", False) in rules()


def test_a_second_thought_replaces_the_first(advised) -> None:
    decide(actor=actor(), recommendation=advised, kind=DecisionKind.ACCEPT)
    decide(actor=actor(), recommendation=advised, kind=DecisionKind.REJECT, reason="it was fine")

    assert {right for _, _, right in rules()} == {False}


def test_the_first_decision_ends_the_diagnosis_whatever_came_after(advised) -> None:
    first = decide(actor=actor(), recommendation=advised, kind=DecisionKind.ACCEPT)
    decide(actor=actor(), recommendation=advised, kind=DecisionKind.REJECT, reason="it was fine")

    assert reckoned(advised).decided_at == first.decided_at


def test_a_restart_blames_nobody(advised) -> None:
    Recommendation.objects.update(action="restart-job")

    decide(actor=actor(), recommendation=advised, kind=DecisionKind.ACCEPT)

    assert (rules(), reckoned(advised).right) == (set(), None)


def test_an_answer_without_a_culprit_locates_nothing() -> None:
    run = DiagnosisFactory(done=True, verdict_class="critical")
    SuspectFactory(diagnosis=run, position=1, role="possible")

    assert reckon(run.incident).located_at is None


def test_the_users_code_is_a_cause_without_a_part() -> None:
    run = DiagnosisFactory(done=True, verdict_class="user", finished_at=timezone.now())

    assert reckon(run.incident).located_at == run.finished_at


def test_an_incident_that_nobody_judged_has_no_reckoning_to_count() -> None:
    incident: Incident = IncidentFactory()

    assert (reckon(incident).right, reckon(incident).place) == (None, None)
