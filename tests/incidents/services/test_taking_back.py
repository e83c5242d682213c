"""Taking a decision back."""

import pytest

from incidents.choices import Action, DecisionKind, ExecutionState, HostState, Outcome, Role
from incidents.exceptions import NotAllowed, TransitionRefused
from incidents.models import Decision, Event, Execution, Host, Recommendation
from incidents.services import decisions, hosts
from incidents.services.carrying import carry_on
from incidents.services.taking_back import take_back
from tests.factories import (
    DiagnosisFactory,
    HostFactory,
    IncidentFactory,
    RecommendationFactory,
    actor,
)

pytestmark = pytest.mark.django_db


def decide(recommendation: Recommendation, kind: str = "accept", **given) -> Decision:
    return decisions.decide(
        actor=actor(), recommendation=recommendation, kind=DecisionKind(kind), **given
    )


def standing(recommendation: Recommendation) -> list[int]:
    return list(recommendation.decisions.filter(standing=True).values_list("pk", flat=True))


def executed(decision: Decision, state: ExecutionState) -> Execution:
    made: Execution = Execution.objects.create(
        recommendation=decision.recommendation,
        decision=decision,
        scheduler="slurm",
        host="node-001",
        argv=["true"],
        planned_by="otto",
        state=state,
    )
    return made


@pytest.fixture
def node(recommendation: Recommendation) -> Host:
    cluster = recommendation.diagnosis.incident.cluster
    made: Host = HostFactory(name="node-001", cluster=cluster)
    return made


@pytest.fixture
def recommendation() -> Recommendation:
    made: Recommendation = RecommendationFactory()
    return made


def test_the_recommendation_waits_again_and_the_timeline_tells(recommendation: Recommendation):
    decision = decide(recommendation)
    take_back(actor=actor(), decision=decision)
    decision.refresh_from_db()
    assert standing(recommendation) == []
    assert (decision.undone_by, decision.undone_at is None) == ("a operator", False)
    event = Event.objects.latest("id")
    assert event.verb == "recommendation.taken_back"
    assert event.text.startswith("Taken back: accepted by a operator: Isolate host: node-001")
    assert recommendation.diagnosis.incident.reckoning.decided_at is None


def test_the_decision_before_it_stands_again(recommendation: Recommendation):
    first = decide(recommendation)
    second = decide(recommendation, "reject", reason="the cable")
    take_back(actor=actor(), decision=second)
    assert standing(recommendation) == [first.pk]
    take_back(actor=actor(), decision=first)
    assert standing(recommendation) == []


def test_where_a_later_run_repeated_it_it_is_taken_back_as_well(recommendation: Recommendation):
    decision = decide(recommendation)
    later = DiagnosisFactory(
        incident=recommendation.diagnosis.incident,
        number=recommendation.diagnosis.number + 1,
        done=True,
    )
    again = RecommendationFactory(diagnosis=later)
    carry_on(decision)
    (repeated,) = again.decisions.all()
    take_back(actor=actor(), decision=repeated)
    assert (standing(recommendation), standing(again)) == ([], [])


def test_the_host_that_it_noted_is_in_service_again(recommendation: Recommendation, node: Host):
    decision = decide(recommendation)
    take_back(actor=actor(), decision=decision)
    node.refresh_from_db()
    assert node.state == HostState.IN_SERVICE
    assert not recommendation.diagnosis.incident.hosts.exists()
    assert "node-001 is in service again" in Event.objects.latest("id").text


def test_a_host_that_was_suspect_before_stays_so(recommendation: Recommendation, node: Host):
    Host.objects.update(state=HostState.SUSPECT)
    take_back(actor=actor(), decision=decide(recommendation))
    node.refresh_from_db()
    assert node.state == HostState.SUSPECT


def test_a_host_that_someone_isolated_since_stays_isolated(
    recommendation: Recommendation, node: Host
):
    decision = decide(recommendation)
    hosts.set_state(actor=actor(), host=node, state=HostState.ISOLATED)
    take_back(actor=actor(), decision=decision)
    node.refresh_from_db()
    assert node.state == HostState.ISOLATED


def test_a_host_that_another_incident_takes_out_stays_suspect(
    recommendation: Recommendation, node: Host
):
    decision = decide(recommendation)
    elsewhere = IncidentFactory(cluster=recommendation.diagnosis.incident.cluster)
    decide(RecommendationFactory(diagnosis=DiagnosisFactory(incident=elsewhere, done=True)))
    take_back(actor=actor(), decision=decision)
    node.refresh_from_db()
    assert node.state == HostState.SUSPECT


def test_a_plan_goes_with_its_decision(recommendation: Recommendation):
    decision = decide(recommendation)
    executed(decision, ExecutionState.PLANNED)
    take_back(actor=actor(), decision=decision)
    assert not Execution.objects.exists()


@pytest.mark.parametrize("state", [s for s in ExecutionState if s != ExecutionState.PLANNED])
def test_what_an_executor_acted_on_is_not_taken_back(
    state: ExecutionState, recommendation: Recommendation
):
    decision = decide(recommendation)
    executed(decision, state)
    with pytest.raises(TransitionRefused, match="executor has acted"):
        take_back(actor=actor(), decision=decision)
    assert standing(recommendation) == [decision.pk]


def test_what_has_come_of_it_keeps_it(recommendation: Recommendation):
    decision = decide(recommendation)
    decisions.record_outcome(actor=actor(), decision=decision, outcome=Outcome.RECOVERED)
    with pytest.raises(TransitionRefused, match="came of it"):
        take_back(actor=actor(), decision=decision)


def test_only_what_stands_is_taken_back_and_only_once(recommendation: Recommendation):
    first = decide(recommendation)
    second = decide(
        recommendation, "change", reason="x", changed_action=Action.WATCH, changed_target="rack 4"
    )
    with pytest.raises(TransitionRefused, match="Another decision"):
        take_back(actor=actor(), decision=first)
    take_back(actor=actor(), decision=second)
    with pytest.raises(TransitionRefused, match="already"):
        take_back(actor=actor(), decision=second)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.TAXONOMIST])
def test_taking_back_takes_a_responder(role: Role, recommendation: Recommendation):
    decision = decide(recommendation)
    with pytest.raises(NotAllowed):
        take_back(actor=actor(role), decision=decision)
