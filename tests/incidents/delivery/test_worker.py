"""Delivery to real servers: what is sent, in which order, and what each answer leads to."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from incidents.choices import DecisionKind
from incidents.delivery import worker
from incidents.delivery.schedule import DELAYS, GIVE_UP_AFTER, TRIES_OF_REFUSED
from incidents.models import Event, WebhookAttempt, WebhookDelivery, WebhookSubscription
from incidents.sealing import unseal
from incidents.services import webhooks
from incidents.services.decisions import decide
from incidents.services.incidents import acknowledge, add_note
from tests.factories import ClusterFactory, IncidentFactory, RecommendationFactory, actor
from tests.incidents.delivery.conftest import Subscribe, states
from tests.receivers import Receiver, Reply

pytestmark = pytest.mark.django_db


def happen(*texts: str) -> None:
    """Writes events that nothing is younger than, so that all may be sent."""
    incident = IncidentFactory()
    for text in texts:
        add_note(actor=actor(), incident=incident, text=text)


def turn(subscription: WebhookSubscription) -> bool:
    return worker.take_turn(subscription.pk, owner="this test")


def wait_of(subscription: WebhookSubscription) -> float:
    """Seconds until the next try."""
    subscription.refresh_from_db()
    assert subscription.retry_at is not None
    return (subscription.retry_at - timezone.now()).total_seconds()


def due(subscription: WebhookSubscription) -> None:
    """As if the time until the next try had passed."""
    WebhookSubscription.objects.filter(pk=subscription.pk).update(retry_at=None)


def test_a_message_is_signed_as_the_public_library_checks_it(
    subscribe: Subscribe, endpoint: Receiver
):
    subscription = subscribe("incident.*")
    happen("looked at it")
    turn(subscription)
    (request,) = endpoint.received
    secret = unseal(subscription.secret)
    payload = Webhook(secret).verify(request.body, request.headers)
    assert payload["type"] == "incident.noted"
    assert payload["data"]["text"] == "looked at it"
    assert request.headers["webhook-id"] == f"evt_{payload['data']['event']}"


def test_another_secret_does_not_check(subscribe: Subscribe, endpoint: Receiver):
    turned = subscribe()
    happen("note")
    turn(turned)
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_" + "A" * 43 + "=").verify(
            endpoint.received[0].body, endpoint.received[0].headers
        )


def test_both_secrets_check_while_they_rotate(subscribe: Subscribe, endpoint: Receiver):
    subscription = subscribe("incident.*")
    old = unseal(subscription.secret)
    new = webhooks.rotate(actor=actor(), subscription=subscription).secret
    happen("note")
    turn(subscription)
    request = endpoint.received[-1]
    assert Webhook(old).verify(request.body, request.headers)
    assert Webhook(new).verify(request.body, request.headers)


def test_the_old_secret_signs_no_longer_than_it_was_given(subscribe: Subscribe, endpoint: Receiver):
    subscription = subscribe("incident.*")
    old = unseal(subscription.secret)
    webhooks.rotate(actor=actor(), subscription=subscription, overlap=timedelta(0))
    happen("note")
    turn(subscription)
    with pytest.raises(WebhookVerificationError):
        Webhook(old).verify(endpoint.received[-1].body, endpoint.received[-1].headers)


def test_an_accepted_recommendation_brings_the_schedulers_commands(
    subscribe: Subscribe, endpoint: Receiver
):
    subscription = subscribe("recommendation.accepted")
    decide(actor=actor(), recommendation=RecommendationFactory(), kind=DecisionKind.ACCEPT)
    turn(subscription)
    data = endpoint.received[0].json["data"]
    assert data["commands"]["slurm"].startswith("scontrol update nodename=node-001 state=drain")
    assert data["commands"]["kubernetes"] == "kubectl cordon -- node-001"


def test_a_payload_is_thin_and_says_where_the_record_is_read(
    subscribe: Subscribe, endpoint: Receiver, settings
):
    settings.PUBLIC_URL = "https://aegis.example"
    subscription = subscribe("incident.*")
    incident = IncidentFactory()
    acknowledge(actor=actor(), incident=incident)
    turn(subscription)
    data = endpoint.received[0].json["data"]
    assert data["api_url"] == f"https://aegis.example/api/v1/incidents/{incident.pk}"
    assert "title" not in data


def test_only_wanted_events_of_the_cluster_go_out(subscribe: Subscribe, endpoint: Receiver):
    hall = ClusterFactory(name="hall-2")
    subscribe("incident.acknowledged", cluster=hall)
    acknowledge(actor=actor(), incident=IncidentFactory())
    add_note(actor=actor(), incident=IncidentFactory(cluster=hall), text="no")
    acknowledge(actor=actor(), incident=IncidentFactory(cluster=hall))
    assert [one.verb for one in WebhookDelivery.objects.all()] == ["incident.acknowledged"]


def test_a_change_that_is_undone_leaves_no_message(subscribe: Subscribe):
    subscribe()
    before = WebhookDelivery.objects.count()
    with transaction.atomic():
        happen("never was")
        transaction.set_rollback(True)
    assert WebhookDelivery.objects.count() == before


def test_a_failing_endpoint_holds_back_what_comes_later(subscribe: Subscribe, endpoint: Receiver):
    subscription = subscribe("incident.*")
    endpoint.replies[:] = [Reply(500, body=b"boom")]
    happen("first", "second", "third")
    turn(subscription)
    assert states() == ["waiting"] * 3
    due(subscription)
    turn(subscription)
    texts = [one.json["data"]["text"] for one in endpoint.received]
    assert texts == ["first", "first", "second", "third"]
    assert states() == ["delivered"] * 3


def test_a_message_tried_again_keeps_its_id_and_the_log_keeps_each_answer(
    subscribe: Subscribe, endpoint: Receiver
):
    subscription = subscribe("incident.*")
    endpoint.replies[:] = [Reply(503, body=b"not now")]
    happen("note")
    turn(subscription)
    due(subscription)
    turn(subscription)
    assert len({one.headers["webhook-id"] for one in endpoint.received}) == 1
    tries = WebhookAttempt.objects.order_by("number")
    assert [(one.status, one.answer) for one in tries] == [(503, "not now"), (204, "")]
    assert tries[0].address == "127.0.0.1"


def test_tries_are_spread_and_the_endpoint_is_left_alone_in_between(
    subscribe: Subscribe, endpoint: Receiver
):
    subscription = subscribe("incident.*")
    endpoint.replies[:] = [Reply(500)] * 10
    happen("note")
    with time_machine.travel(datetime.now(UTC), tick=False):
        turn(subscription)
        turn(subscription)
        assert len(endpoint.received) == 1
        waits = wait_of(subscription)
        assert 0.8 * DELAYS[0] <= waits <= 1.2 * DELAYS[0]
        assert worker.endpoints_due(timezone.now()) == []
        assert worker.endpoints_due(timezone.now() + timedelta(minutes=1)) == [subscription.pk]


def test_retry_after_is_kept_to(subscribe: Subscribe, endpoint: Receiver):
    subscription = subscribe("incident.*")
    endpoint.replies[:] = [Reply(429, {"Retry-After": "3600"})]
    happen("note")
    turn(subscription)
    assert wait_of(subscription) > 3500


def test_gone_disables_the_endpoint_until_a_person_says_otherwise(
    subscribe: Subscribe, endpoint: Receiver
):
    subscription = subscribe("incident.*")
    endpoint.replies[:] = [Reply(410)]
    happen("first", "second")
    turn(subscription)
    turn(subscription)
    subscription.refresh_from_db()
    assert (subscription.state, len(endpoint.received)) == ("disabled", 1)
    assert Event.objects.filter(verb="webhook.disabled").exists()
    webhooks.change(actor=actor(), subscription=subscription, fields={"state": "active"})
    turn(subscription)
    assert [one.json["data"]["text"] for one in endpoint.received] == ["first", "second"]


def test_a_redirect_is_not_followed(subscribe: Subscribe, endpoint: Receiver):
    subscription = subscribe("incident.*")
    endpoint.replies[:] = [Reply(307, {"Location": f"{endpoint.url}/elsewhere"})]
    happen("note")
    turn(subscription)
    assert [one.path for one in endpoint.received] == ["/hook"]
    assert "redirects are not followed" in WebhookAttempt.objects.get().error


@pytest.mark.parametrize("reply", [Reply(delay=60.0), Reply(drip=0.2)])
def test_a_slow_answer_is_waited_for_so_long_and_no_longer(
    subscribe: Subscribe, endpoint: Receiver, monkeypatch: pytest.MonkeyPatch, reply: Reply
):
    monkeypatch.setattr(worker, "ANSWER_SECONDS", 0.6)
    subscription = subscribe("incident.*")
    endpoint.replies[:] = [reply]
    happen("note")
    turn(subscription)
    tried = WebhookAttempt.objects.get()
    assert tried.error == "No answer within 0.6 seconds."
    assert tried.duration_ms < 30_000


def test_an_endpoint_that_is_not_there_is_tried_again(subscribe: Subscribe):
    subscription = subscribe("incident.*", url="http://127.0.0.1:9/")
    happen("note")
    turn(subscription)
    assert states() == ["waiting"]
    assert "Connect" in WebhookAttempt.objects.get().error


def test_a_private_address_gets_nothing_and_the_log_says_why(
    subscribe: Subscribe, endpoint: Receiver, settings
):
    settings.WEBHOOK_NETWORKS = []
    subscription = subscribe("incident.*")
    happen("note")
    turn(subscription)
    assert endpoint.received == []
    assert "AEGIS_WEBHOOK_NETWORKS" in WebhookAttempt.objects.get().error


def test_a_message_that_the_endpoint_will_not_take_makes_way(
    subscribe: Subscribe, endpoint: Receiver
):
    subscription = subscribe("incident.*")
    endpoint.replies[:] = [Reply(422)] * TRIES_OF_REFUSED
    happen("poison", "next")
    for _ in range(TRIES_OF_REFUSED):
        due(subscription)
        turn(subscription)
    assert states() == ["given-up", "delivered"]


def test_after_three_days_a_message_is_given_up(subscribe: Subscribe, endpoint: Receiver):
    subscription = subscribe("incident.*")
    endpoint.replies[:] = [Reply(500)]
    happen("old", "old as well")
    WebhookDelivery.objects.update(created_at=timezone.now() - GIVE_UP_AFTER - timedelta(minutes=1))
    turn(subscription)
    assert states() == ["given-up", "waiting"]
    assert "3 days" in WebhookDelivery.objects.order_by("id")[0].reason


def test_only_one_worker_sends_to_an_endpoint(subscribe: Subscribe, endpoint: Receiver):
    subscription = subscribe("incident.*")
    happen("note")
    held = timezone.now() + timedelta(seconds=30)
    WebhookSubscription.objects.update(lease_owner="another", lease_expires_at=held)
    turn(subscription)
    assert endpoint.received == []


def test_a_worker_that_died_is_followed_by_another(subscribe: Subscribe, endpoint: Receiver):
    subscription = subscribe("incident.*")
    happen("note")
    gone = timezone.now() - timedelta(seconds=1)
    WebhookSubscription.objects.update(lease_owner="dead", lease_expires_at=gone)
    turn(subscription)
    assert states() == ["delivered"]


def test_a_test_is_sent_out_of_turn_and_once(subscribe: Subscribe, endpoint: Receiver):
    subscription = subscribe("incident.*")
    endpoint.replies[:] = [Reply(500), Reply(500)]
    happen("waits")
    turn(subscription)
    delivery = webhooks.test(actor=actor(), subscription=subscription)
    turn(subscription)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.reason) == ("given-up", "HTTP 500")
    assert endpoint.received[-1].json["type"] == "webhook.test"
    assert len(endpoint.received) == 2


def test_a_paused_endpoint_gets_nothing_but_a_test(subscribe: Subscribe, endpoint: Receiver):
    subscription = subscribe("incident.*")
    webhooks.change(actor=actor(), subscription=subscription, fields={"state": "paused"})
    happen("note")
    webhooks.test(actor=actor(), subscription=subscription)
    assert worker.endpoints_due(timezone.now()) == [subscription.pk]
    turn(subscription)
    assert [one.json["type"] for one in endpoint.received] == ["webhook.test"]


def test_no_message_overtakes_an_event_that_is_still_being_written(
    subscribe: Subscribe, endpoint: Receiver
):
    subscription = subscribe("incident.*")
    happen("first")
    turn(subscription)
    first = Event.objects.latest("id")
    with time_machine.travel(datetime.now(UTC), tick=True):
        late = Event.objects.create(
            id=first.pk + 2, verb="incident.noted", text="third", actor="a", source="api"
        )
        WebhookDelivery.objects.create(
            subscription=subscription, event=late, verb=late.verb, message_id="x", body="{}"
        )
        turn(subscription)
        assert len(endpoint.received) == 1
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=30)):
        turn(subscription)
    assert len(endpoint.received) == 2
