"""Ticket systems in the admin site."""

import pytest
from django.test import Client
from django.urls import reverse

from incidents.choices import Role
from incidents.models import TicketConnector, WebhookDelivery
from incidents.sealing import unseal
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
GIVEN = {
    "name": "ops-jira",
    "kind": "jira",
    "url": "https://acme.example",
    "account": "aegis@acme.example",
    "new_secret": "s3cret-value",
    "state": "active",
    "cluster": "",
    "options": '{"project": "OPS"}',
    "events": "incident.*",
    "title_template": "",
    "text_template": "",
}


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory(role=Role.OPERATOR))
    return client


@pytest.fixture
def connector(operator: Client) -> TicketConnector:
    answer = operator.post(reverse("admin:incidents_ticketconnector_add"), GIVEN)
    assert answer.status_code == 302, answer.content.decode()
    return TicketConnector.objects.get()


def page(connector: TicketConnector) -> str:
    return reverse("admin:incidents_ticketconnector_change", args=[connector.pk])


def test_it_is_set_up_with_a_sealed_secret(connector: TicketConnector):
    assert unseal(connector.secret) == "s3cret-value"
    assert (connector.events, connector.options) == (["incident.*"], {"project": "OPS"})


def test_the_page_never_shows_the_secret(operator: Client, connector: TicketConnector):
    shown = operator.get(page(connector)).content.decode()
    assert "s3cret" not in shown
    assert connector.secret not in shown
    assert "Save and try it" in shown


def test_saving_without_a_secret_keeps_it(operator: Client, connector: TicketConnector):
    operator.post(page(connector), {**GIVEN, "new_secret": "", "name": "jira"})
    connector.refresh_from_db()
    assert (connector.name, unseal(connector.secret)) == ("jira", "s3cret-value")


def test_the_test_button_leads_to_the_answer(operator: Client, connector: TicketConnector):
    answer = operator.post(page(connector), {**GIVEN, "new_secret": "", "_test": "1"})
    delivery = WebhookDelivery.objects.get(is_test=True, verb="connector.test")
    log = reverse("admin:incidents_webhookdelivery_change", args=[delivery.pk])
    assert (answer.status_code, answer.headers["Location"]) == (302, log)
    assert operator.get(log).status_code == 200


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"options": "{}"}, "is needed"),
        ({"options": '{"colour": "red", "project": "OPS"}'}, "There is no option"),
        ({"text_template": "{nothing}"}, "There is no {nothing}"),
        ({"new_secret": ""}, "API token or password"),
        ({"url": "https://user@acme.example"}, "neither a user"),
        ({"url": "https://10.20.0.1"}, "AEGIS_WEBHOOK_NETWORKS"),
    ],
)
def test_what_cannot_work_is_said_at_its_field(operator: Client, given: dict[str, str], said: str):
    answer = operator.post(reverse("admin:incidents_ticketconnector_add"), {**GIVEN, **given})
    assert (answer.status_code, said in answer.content.decode()) == (200, True)


def test_it_can_be_removed(operator: Client, connector: TicketConnector):
    address = reverse("admin:incidents_ticketconnector_delete", args=[connector.pk])
    operator.post(address, {"post": "yes"})
    assert not TicketConnector.objects.exists()
