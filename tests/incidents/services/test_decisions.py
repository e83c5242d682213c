"""Deciding about recommendations."""

import pytest

from incidents.choices import Action, DecisionKind, HostState, Outcome, Role
from incidents.exceptions import InvalidInput, NotAllowed
from incidents.models import Event, Host
from incidents.services import decisions
from tests.factories import HostFactory, RecommendationFactory, actor

pytestmark = pytest.mark.django_db


def decide(recommendation, kind: str = "accept", **given):
    return decisions.decide(
        actor=actor(), recommendation=recommendation, kind=DecisionKind(kind), **given
    )


def test_accepting_leaves_the_schedulers_commands_in_the_timeline():
    recommendation = RecommendationFactory()
    decide(recommendation)
    event = Event.objects.get()
    reference = recommendation.diagnosis.incident.reference
    drain = f"scontrol update nodename=node-001 state=drain reason={reference}"
    assert (event.verb, event.data["commands"]["slurm"]) == ("recommendation.accepted", drain)
    assert drain in event.text


def test_accepting_an_isolation_makes_the_host_suspect_and_not_isolated():
    recommendation = RecommendationFactory()
    incident = recommendation.diagnosis.incident
    host = HostFactory(cluster=incident.cluster, name="NODE-001.example.org")
    decide(recommendation)
    host.refresh_from_db()
    assert host.state == HostState.SUSPECT
    assert list(incident.hosts.all()) == [host]


def test_a_host_that_only_the_evidence_named_is_registered():
    recommendation = RecommendationFactory()
    decide(recommendation)
    host = Host.objects.get()
    assert (host.name, host.cluster) == ("node-001", recommendation.diagnosis.incident.cluster)


@pytest.mark.parametrize("state", [HostState.ISOLATED, HostState.IN_REPAIR])
def test_a_host_that_is_out_of_service_already_stays_so(state: HostState):
    recommendation = RecommendationFactory()
    host = HostFactory(
        cluster=recommendation.diagnosis.incident.cluster, name="node-001", state=state
    )
    decide(recommendation)
    host.refresh_from_db()
    assert host.state == state


def test_rejecting_touches_no_host():
    decide(RecommendationFactory(), "reject", reason="spare part on its way")
    assert not Host.objects.exists()
    assert Event.objects.get().data["commands"] == {}


def test_a_change_is_kept_with_what_should_be_done_instead():
    decision = decide(
        RecommendationFactory(),
        "change",
        reason="only one GPU",
        changed_action=Action.RESET_GPU,
        changed_target="node-001 GPU 3",
    )
    assert (decision.changed_action, decision.changed_target) == ("reset-gpu", "node-001 GPU 3")
    assert not Host.objects.exists()


def test_a_change_to_isolating_another_host_gives_its_command():
    decide(
        RecommendationFactory(action="watch"),
        "change",
        reason="it is the neighbour",
        changed_action=Action.ISOLATE_HOST,
        changed_target="node-002",
    )
    assert "nodename=node-002" in Event.objects.get().data["commands"]["slurm"]


@pytest.mark.parametrize(
    ("kind", "given", "field"),
    [
        ("reject", {}, "reason"),
        ("reject", {"reason": "  "}, "reason"),
        ("change", {"reason": "x"}, "changed_action"),
        ("change", {"changed_action": Action.WATCH}, "reason"),
    ],
)
def test_what_lacks_is_named(kind: str, given: dict[str, object], field: str):
    with pytest.raises(InvalidInput) as refused:
        decide(RecommendationFactory(), kind, **given)
    assert refused.value.field == field


def test_the_newest_decision_stands_and_earlier_ones_are_kept():
    recommendation = RecommendationFactory()
    first = decide(recommendation)
    second = decide(recommendation, "reject", reason="it was the cable")
    standing = list(recommendation.decisions.order_by("id").values_list("pk", "standing"))
    assert standing == [(first.pk, False), (second.pk, True)]


def test_an_outcome_is_noted_with_its_time():
    decision = decide(RecommendationFactory())
    decision = decisions.record_outcome(
        actor=actor(), decision=decision, outcome=Outcome.PART_BAD, note="RMA 17"
    )
    assert (decision.outcome, decision.outcome_note) == ("part-bad", "RMA 17")
    assert decision.outcome_at is not None
    assert Event.objects.latest("id").verb == "decision.outcome"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.TAXONOMIST])
def test_deciding_takes_a_responder(role: Role):
    with pytest.raises(NotAllowed):
        decisions.decide(
            actor=actor(role), recommendation=RecommendationFactory(), kind=DecisionKind.ACCEPT
        )


@pytest.mark.parametrize(
    ("kind", "given"),
    [("accept", {}), ("change", {"reason": "x", "changed_action": Action.ISOLATE_HOST})],
)
def test_an_isolation_that_names_no_host_is_refused_until_someone_names_it(kind: str, given):
    recommendation = RecommendationFactory(target_host="", target_kind="rank", target_rank=5)
    with pytest.raises(InvalidInput) as refused:
        decide(recommendation, kind, **given)
    assert refused.value.field == "changed_target"
    assert not recommendation.decisions.exists()
    decide(
        recommendation,
        "change",
        reason="rank 5 runs there",
        changed_action=Action.ISOLATE_HOST,
        changed_target="node-007",
    )
    assert Host.objects.get().name == "node-007"


def test_what_isolates_nothing_needs_no_host():
    decide(RecommendationFactory(action="watch", target_host="", target_kind="job"))


@pytest.mark.parametrize("target", ["node-[001-100]", "ALL", "a b;rm"])
def test_an_isolation_of_what_is_no_hosts_name_is_refused_and_registers_nothing(target: str):
    with pytest.raises(InvalidInput) as refused:
        decide(
            RecommendationFactory(),
            "change",
            reason="all of them",
            changed_action=Action.ISOLATE_HOST,
            changed_target=target,
        )
    assert refused.value.field == "changed_target"
    assert not Host.objects.filter(name=target).exists()
