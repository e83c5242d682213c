"""Ticket systems over REST: set up without ever showing a secret, and asked for tickets."""

import pytest
from rest_framework.test import APIClient

from incidents.choices import Role
from incidents.models import TicketConnector, WebhookDelivery
from incidents.sealing import unseal
from tests.factories import ClusterFactory, IncidentFactory
from tests.incidents.api.conftest import Program

pytestmark = pytest.mark.django_db
JIRA = {
    "kind": "jira",
    "name": "ops-jira",
    "url": "https://acme.example",
    "account": "aegis@acme.example",
    "secret": "s3cret-value",
    "options": {"project": "OPS"},
}


@pytest.fixture
def operator(program: Program) -> APIClient:
    return speaking_json(program(Role.OPERATOR))


@pytest.fixture
def responder(program: Program) -> APIClient:
    return speaking_json(program(Role.RESPONDER))


def speaking_json(client: APIClient) -> APIClient:
    client.default_format = "json"
    return client


@pytest.fixture
def connector(operator) -> TicketConnector:
    pk = operator.post("/api/v1/connectors", JIRA).json()["id"]
    return TicketConnector.objects.get(pk=pk)


def test_a_secret_goes_in_and_never_comes_out(operator, connector: TicketConnector):
    shown = operator.get(f"/api/v1/connectors/{connector.pk}")
    listed = operator.get("/api/v1/connectors")
    feed = operator.get("/api/v1/events")
    log = operator.get(f"/api/v1/connectors/{connector.pk}/deliveries")
    assert "s3cret" not in "".join(one.content.decode() for one in (shown, listed, feed, log))
    assert "s3cret" not in connector.secret
    assert unseal(connector.secret) == "s3cret-value"


def test_a_change_without_a_secret_keeps_it(operator, connector: TicketConnector):
    address = f"/api/v1/connectors/{connector.pk}"
    answer = operator.patch(address, {"name": "jira"}, HTTP_IF_MATCH="*")
    connector.refresh_from_db()
    assert (answer.status_code, unseal(connector.secret)) == (200, "s3cret-value")


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"options": {}}, "#/options"),
        ({"options": {"project": "OPS", "colour": "red"}}, "#/options"),
        ({"options": {"project": "OPS", "incoming": {"Done": "over"}}}, "#/options"),
        ({"title_template": "{nothing}"}, "#/title_template"),
        ({"url": "ftp://acme.example"}, "#/url"),
        ({"kind": "bugzilla"}, "#/kind"),
    ],
)
def test_what_cannot_work_is_refused_by_field(operator, given: dict[str, object], pointer: str):
    answer = operator.post("/api/v1/connectors", {**JIRA, **given})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, pointer)


def test_a_ticket_is_asked_for_once_however_often_it_is_sent(responder, connector):
    address = f"/api/v1/incidents/{IncidentFactory().pk}/tickets"
    first, second = (responder.post(address, {"connector": "ops-jira"}) for _ in range(2))
    assert (first.status_code, second.status_code) == (202, 200)
    assert first.json()["id"] == second.json()["id"]
    assert first.json()["state"] == "wanted"
    assert WebhookDelivery.objects.filter(subscription=connector).count() == 1


def test_the_ticket_system_of_another_cluster_is_not_there(responder, connector):
    TicketConnector.objects.update(cluster=ClusterFactory())
    address = f"/api/v1/incidents/{IncidentFactory().pk}/tickets"
    answer = responder.post(address, {"connector": "ops-jira"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "#/connector")


def test_a_key_and_a_connector_at_once_are_refused(responder, connector):
    address = f"/api/v1/incidents/{IncidentFactory().pk}/tickets"
    given = {"connector": "ops-jira", "key": "OPS-1"}
    assert responder.post(address, given).status_code == 400


def test_ticket_systems_are_no_webhooks(operator, connector: TicketConnector):
    assert operator.get("/api/v1/webhooks").json()["results"] == []
    assert operator.get(f"/api/v1/webhooks/{connector.pk}").status_code == 404


def test_removing_one_keeps_its_tickets_as_links(operator, responder, connector):
    incident = IncidentFactory()
    responder.post(f"/api/v1/incidents/{incident.pk}/tickets", {"connector": "ops-jira"})
    incident.tickets.update(state="live", key="OPS-1")
    assert operator.delete(f"/api/v1/connectors/{connector.pk}").status_code == 204
    ticket = incident.tickets.get()
    assert (ticket.key, ticket.state, ticket.connector) == ("OPS-1", "linked", None)


@pytest.mark.parametrize("method", ["get", "delete"])
def test_an_id_that_no_database_holds_is_not_there(operator, method: str):
    answer = getattr(operator, method)("/api/v1/connectors/1440875131388070199296")
    assert answer.status_code == 404
