"""Webhooks in the admin site."""

import pytest
from django.test import Client
from django.urls import reverse

from incidents.choices import DeliveryState, Role
from incidents.models import WebhookDelivery, WebhookSubscription
from incidents.services import webhooks
from tests.factories import UserFactory, actor

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(UserFactory(role=Role.OPERATOR))
    return client


def endpoint() -> WebhookSubscription:
    return webhooks.subscribe(
        actor=actor(), name="tickets", url="https://tickets.example/"
    ).subscription


def run(client: Client, model: str, action: str, pk: int) -> str:
    address = reverse(f"admin:incidents_{model}_changelist")
    answer = client.post(address, {"action": action, "_selected_action": [pk]}, follow=True)
    return answer.content.decode()


def test_a_new_endpoint_shows_its_secret_once(operator: Client):
    page = operator.post(
        reverse("admin:incidents_webhooksubscription_add"),
        {
            "name": "tickets",
            "url": "https://tickets.example/",
            "events": "incident.*\ndiagnosis.done",
            "state": "active",
        },
        follow=True,
    )
    assert "whsec_" in page.content.decode()
    assert WebhookSubscription.objects.get().events == ["incident.*", "diagnosis.done"]


def test_a_bad_pattern_is_told_at_the_field(operator: Client):
    page = operator.post(
        reverse("admin:incidents_webhooksubscription_add"),
        {"name": "t", "url": "https://t.example/", "events": "Opened!", "state": "active"},
    )
    assert "is no event" in page.content.decode()


def test_pausing_is_a_change_like_any_other(operator: Client):
    found = endpoint()
    operator.post(
        reverse("admin:incidents_webhooksubscription_change", args=[found.pk]),
        {"name": "tickets", "url": "https://tickets.example/", "events": "", "state": "paused"},
    )
    found.refresh_from_db()
    assert (found.state, found.version) == ("paused", 2)


def test_a_test_is_one_click(operator: Client):
    run(operator, "webhooksubscription", "send_test", endpoint().pk)
    assert WebhookDelivery.objects.get().is_test


def test_a_new_secret_is_shown_after_rotating(operator: Client):
    assert "whsec_" in run(operator, "webhooksubscription", "rotate_secret", endpoint().pk)


def test_what_was_given_up_is_sent_again(operator: Client):
    found = endpoint()
    lost = WebhookDelivery.objects.create(
        subscription=found, verb="x", message_id="m", body="{}", state=DeliveryState.GIVEN_UP
    )
    run(operator, "webhooksubscription", "replay_given_up", found.pk)
    run(operator, "webhookdelivery", "send_again", lost.pk)
    assert WebhookDelivery.objects.filter(replay_of=lost).count() == 2


def test_the_log_shows_body_and_answers(operator: Client):
    sent = WebhookDelivery.objects.create(
        subscription=endpoint(), verb="x", message_id="m", body='{"a": 1}'
    )
    sent.attempts.create(number=1, duration_ms=5, status=500, answer="boom")
    page = operator.get(reverse("admin:incidents_webhookdelivery_change", args=[sent.pk]))
    assert "boom" in page.content.decode()


def test_an_endpoint_is_removed_with_an_event(operator: Client):
    found = endpoint()
    address = reverse("admin:incidents_webhooksubscription_delete", args=[found.pk])
    operator.post(address, {"post": "yes"})
    assert not WebhookSubscription.objects.exists()
