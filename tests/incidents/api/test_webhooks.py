"""Webhooks over REST: endpoints, secrets shown once, tests, the log, sending again."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from incidents.choices import DeliveryState, Role
from incidents.models import Event, IdempotencyKey, WebhookDelivery, WebhookSubscription
from incidents.services.incidents import add_note
from tests.factories import IncidentFactory, actor

pytestmark = pytest.mark.django_db

ENDPOINT = {"name": "tickets", "url": "https://tickets.example/hook", "events": ["incident.*"]}


def made(api: APIClient, **more: Any) -> dict[str, Any]:
    answer = api.post("/api/v1/webhooks", {**ENDPOINT, **more}, format="json")
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()
    return found


def message(state: DeliveryState = DeliveryState.GIVEN_UP) -> WebhookDelivery:
    add_note(actor=actor(), incident=IncidentFactory(), text="note")
    delivery = WebhookDelivery.objects.latest("id")
    delivery.state = state
    delivery.save()
    return delivery


def test_a_new_endpoint_shows_its_secret_once(api: APIClient):
    new = made(api)
    assert new["secret"].startswith("whsec_")
    assert "secret" not in api.get(f"/api/v1/webhooks/{new['id']}").json()
    assert new["secret"] not in WebhookSubscription.objects.get().secret


def test_a_repeated_request_makes_one_endpoint_and_keeps_no_secret(api: APIClient):
    headers: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "k1"}
    first = api.post("/api/v1/webhooks", ENDPOINT, format="json", **headers).json()
    again = api.post("/api/v1/webhooks", ENDPOINT, format="json", **headers).json()
    assert (again["id"], again["secret"]) == (first["id"], None)
    assert first["secret"] not in str(IdempotencyKey.objects.get().body)


def test_a_name_stands_for_one_endpoint(api: APIClient):
    made(api)
    answer = api.post("/api/v1/webhooks", ENDPOINT, format="json")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "#/name"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "ftp://tickets.example/"),
        ("url", "https://10.20.0.1/hook"),
        ("url", "https://user:secret@tickets.example/"),
        ("events", ["Incident Opened"]),
        ("events", ["incident.opened*x"]),
        ("cluster", "nowhere"),
    ],
)
def test_what_cannot_be_an_endpoint_is_refused(api: APIClient, field: str, value: object):
    answer = api.post("/api/v1/webhooks", {**ENDPOINT, field: value}, format="json")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == f"#/{field}"


def test_a_change_needs_the_state_that_was_seen(api: APIClient):
    address = f"/api/v1/webhooks/{made(api)['id']}"
    paused = {"state": "paused"}
    assert api.patch(address, paused, format="json").status_code == 428
    tag = api.get(address)["ETag"]
    assert api.patch(address, paused, format="json", HTTP_IF_MATCH=tag).json()["state"] == "paused"
    assert api.patch(address, paused, format="json", HTTP_IF_MATCH=tag).status_code == 412


def test_nobody_sets_what_only_an_answer_sets(api: APIClient):
    address = f"/api/v1/webhooks/{made(api)['id']}"
    answer = api.patch(address, {"state": "disabled"}, format="json", HTTP_IF_MATCH="*")
    assert answer.status_code == 400


def test_a_new_secret_leaves_the_old_one_for_the_hours_given(api: APIClient):
    new = made(api)
    answer = api.post(
        f"/api/v1/webhooks/{new['id']}/secret", {"overlap_hours": 48}, format="json"
    ).json()
    assert answer["secret"] != new["secret"]
    assert answer["previous_until"] is not None


def test_a_test_can_be_followed_to_its_answer(api: APIClient):
    sent = api.post(f"/api/v1/webhooks/{made(api)['id']}/test", {}, format="json")
    assert sent.status_code == 202
    shown = api.get(sent["Location"]).json()
    assert (shown["is_test"], shown["state"], shown["attempts"]) == (True, "waiting", [])


def test_one_message_is_sent_again_under_its_id(api: APIClient):
    made(api)
    delivery = message()
    again = api.post(f"/api/v1/deliveries/{delivery.pk}/replay", {}, format="json")
    assert again.status_code == 202
    assert again.json()["message_id"] == delivery.message_id
    assert again.json()["replay_of"] == delivery.pk


def test_a_message_that_waits_is_not_sent_again_beside_itself(api: APIClient):
    made(api)
    delivery = message(DeliveryState.WAITING)
    answer = api.post(f"/api/v1/deliveries/{delivery.pk}/replay", {}, format="json")
    assert answer.status_code == 409


def test_everything_that_was_given_up_is_sent_again_in_order(api: APIClient):
    endpoint = made(api)["id"]
    lost = [message(), message(), message()]
    message(DeliveryState.DELIVERED)
    answer = api.post(f"/api/v1/webhooks/{endpoint}/replay", {}, format="json").json()
    again = WebhookDelivery.objects.filter(pk__in=answer["deliveries"]).order_by("id")
    assert [one.message_id for one in again] == [one.message_id for one in lost]


def test_a_message_that_blocks_can_be_skipped(api: APIClient):
    made(api)
    delivery = message(DeliveryState.WAITING)
    answer = api.post(f"/api/v1/deliveries/{delivery.pk}/skip", {}, format="json")
    assert answer.json()["state"] == "given-up"
    assert "Skipped by" in answer.json()["reason"]


def test_a_message_is_shown_as_it_was_sent(api: APIClient):
    made(api)
    delivery = message()
    assert api.get(f"/api/v1/deliveries/{delivery.pk}").json()["body"] == delivery.body


def test_the_log_of_an_endpoint_is_filtered(api: APIClient):
    endpoint = made(api)["id"]
    message()
    message(DeliveryState.DELIVERED)
    found = api.get(f"/api/v1/webhooks/{endpoint}/deliveries?state=delivered").json()["results"]
    assert [one["state"] for one in found] == ["delivered"]


def test_an_endpoint_is_removed_with_its_log_and_the_timeline_tells(api: APIClient):
    endpoint = made(api)["id"]
    message()
    assert api.delete(f"/api/v1/webhooks/{endpoint}").status_code == 204
    assert not WebhookDelivery.objects.exists()
    assert Event.objects.filter(verb="webhook.removed").count() == 1


def test_a_responder_sees_no_endpoint(program: Callable[..., APIClient]):
    assert program(Role.RESPONDER).get("/api/v1/webhooks").status_code == 403
