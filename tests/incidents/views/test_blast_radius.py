"""Accepting isolations beyond a limit asks again."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from incidents.choices import Action, DecisionKind, HostState
from incidents.exceptions import TooManyIsolations
from incidents.models import Cluster, Decision, Event, Recommendation
from incidents.services.decisions import decide
from incidents.services.hosts import set_state
from tests.factories import (
    ClusterFactory,
    DiagnosisFactory,
    HostFactory,
    RecommendationFactory,
    actor,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def limits(settings) -> None:
    settings.ISOLATION_MAX_HOSTS = 3
    settings.ISOLATION_MAX_PERCENT = 10
    settings.ISOLATION_SHARE_FROM_HOSTS = 20


@pytest.fixture
def cluster() -> Cluster:
    made: Cluster = ClusterFactory(name="alpha")
    return made


def recommendation(cluster: Cluster, host: str, **fields) -> Recommendation:
    made: Recommendation = RecommendationFactory(
        diagnosis=DiagnosisFactory(done=True, incident__cluster=cluster),
        target_host=host,
        target_name=host,
        **fields,
    )
    return made


def accept(cluster: Cluster, host: str, **given) -> Decision:
    asked = recommendation(cluster, host)
    return decide(actor=actor(), recommendation=asked, kind=DecisionKind.ACCEPT, **given)


def three_are_out(cluster: Cluster) -> None:
    for host in ("node-1", "node-2", "node-3"):
        accept(cluster, host)


def test_one_host_too_many_is_a_question_and_nothing_is_decided(cluster):
    three_are_out(cluster)
    with pytest.raises(TooManyIsolations, match=r"host 4 .* alpha within 60 min.*node-1, node-2"):
        accept(cluster, "node-4")
    assert not Decision.objects.filter(recommendation__target_host="node-4").exists()


def test_whoever_confirms_goes_on_and_the_timeline_says_so(cluster):
    three_are_out(cluster)
    decision = accept(cluster, "node-4", confirm=True)
    event = Event.objects.get(verb="isolation.beyond_limit")
    assert event.incident == decision.recommendation.diagnosis.incident
    assert event.data["hosts"] == ["node-1", "node-2", "node-3", "node-4"]


def test_the_same_host_again_is_no_further_host(cluster):
    three_are_out(cluster)
    accept(cluster, "NODE-3.example:22")


def test_what_was_taken_back_or_decided_long_ago_does_not_count(cluster):
    three_are_out(cluster)
    first = Decision.objects.get(recommendation__target_host="node-1")
    decide(
        actor=actor(),
        recommendation=first.recommendation,
        kind=DecisionKind.REJECT,
        reason="it was the switch",
    )
    accept(cluster, "node-4")
    Decision.objects.update(decided_at=timezone.now() - timedelta(hours=2))
    accept(cluster, "node-5")


def test_another_cluster_has_a_limit_of_its_own(cluster):
    three_are_out(cluster)
    accept(ClusterFactory(), "node-4")


def test_a_share_of_a_known_cluster_counts_too(cluster):
    for number in range(20):
        HostFactory(cluster=cluster, name=f"node-{number}")
    accept(cluster, "node-1")
    accept(cluster, "node-2")
    with pytest.raises(TooManyIsolations, match="15 % of its 20 hosts"):
        accept(cluster, "node-3")


def test_a_change_to_isolation_and_a_host_noted_as_isolated_count(cluster):
    for name in ("node-1", "node-2", "node-3"):
        host = HostFactory(cluster=cluster, name=name)
        set_state(actor=actor(), host=host, state=HostState.ISOLATED)
    asked = recommendation(cluster, "", action="watch")
    with pytest.raises(TooManyIsolations):
        decide(
            actor=actor(),
            recommendation=asked,
            kind=DecisionKind.CHANGE,
            reason="seen it before",
            changed_action=Action.ISOLATE_HOST,
            changed_target="node-9",
        )


def test_the_page_asks_again_and_going_on_decides(cluster, responder: Client):
    three_are_out(cluster)
    asked = recommendation(cluster, "node-4")
    incident = asked.diagnosis.incident_id
    address = f"/incidents/{incident}/recommendations/{asked.pk}"
    given = {"kind": "accept", "seen": "0"}
    answer = responder.post(address, given)
    assert answer.status_code == 302
    page = responder.get(answer["Location"])
    assert "host 4 that is taken out of alpha" in page.content.decode()
    assert not asked.decisions.exists()
    responder.post(address, {**given, "confirm": "on"})
    assert asked.decisions.get().kind == DecisionKind.ACCEPT


def test_a_live_page_is_sent_to_the_question(cluster, responder: Client):
    three_are_out(cluster)
    asked = recommendation(cluster, "node-4")
    address = f"/incidents/{asked.diagnosis.incident_id}/recommendations/{asked.pk}"
    answer = responder.post(address, {"kind": "accept"}, headers={"HX-Request": "true"})
    assert answer["HX-Redirect"].startswith(f"{address}/confirm?")


def test_a_question_that_is_no_longer_one_leads_back(cluster, responder: Client):
    asked = recommendation(cluster, "node-4")
    address = f"/incidents/{asked.diagnosis.incident_id}/recommendations/{asked.pk}/confirm"
    answer = responder.get(address, {"kind": "accept"})
    assert answer.status_code == 302
