"""Tickets in real web servers that speak the documented REST of Jira, ServiceNow and plain HTTP."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from incidents.choices import BatchStep, IncidentStatus, Resolution, TicketState
from incidents.delivery import ticket_asking, ticket_client, worker
from incidents.delivery.schedule import TRIES_OF_REFUSED, UNTIL_FOUND
from incidents.models import Incident, TicketConnector, TicketLink, WebhookAttempt, WebhookDelivery
from incidents.services import connectors
from incidents.services.batches import Wanted, change_many, undo
from incidents.services.incidents import acknowledge, add_note, resolve
from incidents.services.ticket_opening import open_ticket
from tests.factories import IncidentFactory, actor
from tests.receivers import Reply
from tests.ticket_servers import (
    TOO_LONG,
    JiraServer,
    PlainServer,
    ServiceNowServer,
    TicketServer,
    ticket_server,
)

pytestmark = pytest.mark.django_db
KINDS: dict[str, tuple[type[TicketServer], dict[str, Any]]] = {
    "jira": (JiraServer, {"project": "OPS"}),
    "servicenow": (ServiceNowServer, {}),
    "http": (PlainServer, {}),
}
#: A status of each system in which someone works on the ticket, one in which nobody does, and one
#: in which it is closed.
WORKING = {"jira": "In Progress", "servicenow": "2", "http": "acknowledged"}
NEW = {"jira": "To Do", "servicenow": "1", "http": "triggered"}
CLOSED = {"jira": "Done", "servicenow": "7", "http": "resolved"}
CREDENTIALS = f"Basic {b64encode(b'aegis:a secret').decode()}"

Setting = tuple[TicketConnector, Any]


@pytest.fixture(params=KINDS)
def setting(request: pytest.FixtureRequest, db: None) -> Iterator[Setting]:
    """A connector of each kind, and the server that it leads to."""
    yield from made(request.param)


@pytest.fixture
def jira(db: None) -> Iterator[Setting]:
    yield from made("jira")


def made(kind: str) -> Iterator[Setting]:
    server_class, options = KINDS[kind]
    with ticket_server(server_class(authorization=CREDENTIALS)) as server:
        given = {"name": f"our-{kind}", "url": server.url, "account": "aegis"}
        fields = {**given, "secret": "a secret", "options": options}
        yield connectors.add_connector(actor=actor(), kind=kind, fields=fields), server


def asked(connector: TicketConnector, incident: Incident | None = None) -> TicketLink:
    ticket, _ = open_ticket(
        actor=actor(), incident=incident or IncidentFactory(), connector=connector
    )
    return ticket


def turn(connector: TicketConnector) -> None:
    """A worker's turn, as if the time until the next try had passed."""
    TicketConnector.objects.filter(pk=connector.pk).update(retry_at=None)
    worker.take_turn(connector.pk, owner="this test")


def live(connector: TicketConnector) -> TicketLink:
    """A ticket that was opened."""
    ticket = asked(connector)
    turn(connector)
    ticket.refresh_from_db()
    assert ticket.state == TicketState.LIVE
    return ticket


def poll(connector: TicketConnector) -> int:
    TicketConnector.objects.filter(pk=connector.pk).update(asked_at=None)
    return ticket_asking.ask(connector.pk)


def test_a_ticket_is_opened_with_the_incidents_words(setting: Setting):
    connector, server = setting
    ticket = live(connector)
    (there,) = server.tickets.values()
    assert ticket.incident.reference in str(there)
    assert str(ticket.lookup) in str(there)
    assert ticket.key in server.tickets
    assert ticket.incident.events.filter(verb="ticket.opened").count() == 1


def test_a_title_follows_the_connectors_template(setting: Setting):
    connector, server = setting
    template = {"title_template": "[{severity}] {reference}"}
    connectors.change_connector(actor=actor(), connector=connector, fields=template)
    connector.refresh_from_db()
    ticket = live(connector)
    assert f"[Medium] {ticket.incident.reference}" in str(server.tickets)


def test_asked_twice_one_ticket_is_opened(setting: Setting):
    connector, server = setting
    ticket = live(connector)
    again = asked(connector, ticket.incident)
    turn(connector)
    assert (again.pk, len(server.tickets)) == (ticket.pk, 1)


def test_an_opening_that_timed_out_makes_no_second_ticket(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
):
    connector, server = setting
    server.slow_openings = 1
    ticket = asked(connector)
    with monkeypatch.context() as impatient:
        impatient.setattr(ticket_client, "CALL_SECONDS", TOO_LONG / 30)
        turn(connector)
    ticket.refresh_from_db()
    connector.refresh_from_db()
    assert (ticket.state, len(server.tickets)) == (TicketState.WANTED, 1)
    assert connector.retry_at is not None
    assert connector.retry_at > timezone.now() + UNTIL_FOUND / 2
    turn(connector)
    ticket.refresh_from_db()
    assert (ticket.state, len(server.tickets)) == (TicketState.LIVE, 1)


def test_a_worker_that_ended_before_noting_it_makes_no_second_ticket(setting: Setting):
    connector, server = setting
    ticket = live(connector)
    TicketLink.objects.filter(pk=ticket.pk).update(state=TicketState.WANTED)
    WebhookAttempt.objects.all().delete()
    WebhookDelivery.objects.update(state="waiting", attempt_count=0)
    turn(connector)
    ticket.refresh_from_db()
    assert (ticket.state, len(server.tickets)) == (TicketState.LIVE, 1)


def test_wrong_credentials_hold_everything_back_and_say_so(setting: Setting):
    connector, server = setting
    server.authorization = "another"
    ticket = asked(connector)
    turn(connector)
    ticket.refresh_from_db()
    assert (ticket.state, ticket.error) == (TicketState.WANTED, "HTTP 401")
    server.authorization = CREDENTIALS
    turn(connector)
    ticket.refresh_from_db()
    assert (ticket.state, ticket.error) == (TicketState.LIVE, "")


def test_retry_after_is_kept_to(setting: Setting):
    connector, server = setting
    server.faults = [Reply(429, {"Retry-After": "900"})]
    asked(connector)
    turn(connector)
    connector.refresh_from_db()
    assert connector.retry_at is not None
    assert connector.retry_at > timezone.now() + timedelta(seconds=800)
    assert server.tickets == {}


def test_a_system_that_is_down_is_tried_again(setting: Setting):
    connector, server = setting
    server.faults = [Reply(503), Reply(502)]
    ticket = asked(connector)
    for _ in range(3):
        turn(connector)
    ticket.refresh_from_db()
    assert (ticket.state, len(server.tickets)) == (TicketState.LIVE, 1)


def test_a_ticket_that_is_refused_lets_the_others_pass_and_can_be_asked_for_again(
    setting: Setting,
):
    connector, server = setting
    ticket = asked(connector)
    server.faults = [Reply(400)] * TRIES_OF_REFUSED
    for _ in range(TRIES_OF_REFUSED):
        turn(connector)
    ticket.refresh_from_db()
    assert (ticket.state, ticket.error) == (TicketState.REFUSED, "HTTP 400")
    assert live(connector).key
    again = asked(connector, ticket.incident)
    turn(connector)
    again.refresh_from_db()
    assert (again.pk, again.state) == (ticket.pk, TicketState.LIVE)


def test_status_and_notes_go_out(setting: Setting):
    connector, server = setting
    ticket = live(connector)
    acknowledge(actor=actor(), incident=ticket.incident)
    add_note(actor=actor(), incident=ticket.incident, text="vendor called")
    turn(connector)
    assert server.status(ticket.key) == WORKING[connector.kind]
    assert any("vendor called" in note for note in server.notes(ticket.key))


def test_a_step_that_was_taken_back_goes_out_as_the_status_that_stands(setting: Setting):
    connector, server = setting
    ticket = live(connector)
    wanted = Wanted(step=BatchStep.ACKNOWLEDGE)
    done = change_many(actor=actor(), incidents=[ticket.incident], wanted=wanted)
    turn(connector)
    assert server.status(ticket.key) == WORKING[connector.kind]
    undo(actor=actor(), batch=done.batch)
    turn(connector)
    assert server.status(ticket.key) == NEW[connector.kind]


def test_what_was_taken_back_without_a_change_of_status_is_not_told(jira: Setting):
    connector, _ = jira
    ticket = live(connector)
    wanted = Wanted(step=BatchStep.SNOOZE)
    undo(
        actor=actor(),
        batch=change_many(actor=actor(), incidents=[ticket.incident], wanted=wanted).batch,
    )
    assert not WebhookDelivery.objects.filter(verb="incident.reverted").exists()


def test_what_happened_while_it_was_being_opened_is_told_afterwards(setting: Setting):
    connector, server = setting
    ticket = asked(connector)
    acknowledge(actor=actor(), incident=ticket.incident)
    turn(connector)
    ticket.refresh_from_db()
    assert server.status(ticket.key) == WORKING[connector.kind]


def test_a_note_that_timed_out_is_written_once(setting: Setting, monkeypatch: pytest.MonkeyPatch):
    connector, server = setting
    ticket = live(connector)
    add_note(actor=actor(), incident=ticket.incident, text="vendor called")
    turn(connector)
    WebhookDelivery.objects.filter(verb="incident.noted").update(state="waiting")
    turn(connector)
    assert sum("vendor called" in note for note in server.notes(ticket.key)) == 1


def test_a_ticket_that_is_gone_holds_nothing_back(jira: Setting):
    connector, server = jira
    gone, other = live(connector), live(connector)
    del server.tickets[gone.key]
    add_note(actor=actor(), incident=gone.incident, text="lost")
    add_note(actor=actor(), incident=other.incident, text="told")
    for _ in range(TRIES_OF_REFUSED):
        turn(connector)
    assert any("told" in note for note in server.notes(other.key))


def test_work_on_the_ticket_acknowledges_the_incident(setting: Setting):
    connector, server = setting
    ticket = live(connector)
    poll(connector)
    server.move(ticket.key, WORKING[connector.kind])
    assert poll(connector) == 1
    ticket.refresh_from_db()
    incident = Incident.objects.get(pk=ticket.incident_id)
    assert (ticket.status, incident.status) == (WORKING[connector.kind], "acknowledged")


def test_a_closed_ticket_resolves_the_incident(setting: Setting):
    connector, server = setting
    ticket = live(connector)
    poll(connector)
    server.move(ticket.key, CLOSED[connector.kind])
    poll(connector)
    incident = Incident.objects.get(pk=ticket.incident_id)
    assert (incident.status, incident.resolution) == (IncidentStatus.RESOLVED, Resolution.OTHER)
    assert ticket.key in incident.resolution_note


def test_a_ticket_system_is_not_told_what_it_said_itself(setting: Setting):
    connector, server = setting
    ticket = live(connector)
    poll(connector)
    server.move(ticket.key, CLOSED[connector.kind])
    poll(connector)
    turn(connector)
    assert server.notes(ticket.key) == []


def test_our_own_status_is_no_news(setting: Setting):
    connector, _ = setting
    ticket = live(connector)
    poll(connector)
    resolve(actor=actor(), incident=ticket.incident, resolution=Resolution.RECOVERED)
    turn(connector)
    poll(connector)
    assert not ticket.incident.events.filter(verb="ticket.moved").exists()


@pytest.mark.parametrize("kind", ["jira", "servicenow"])
def test_notes_come_in_once_and_ours_do_not_come_back(kind: str):
    for connector, server in made(kind):
        ticket = live(connector)
        add_note(actor=actor(), incident=ticket.incident, text="ours")
        turn(connector)
        write: Callable[..., None] = server.comment if kind == "jira" else server.note
        write(ticket.key, "bob", "swapped the part")
        poll(connector)
        poll(connector)
        notes = ticket.incident.events.filter(verb="incident.noted")
        assert [one.text for one in notes if "swapped" in one.text] == [
            f"bob in {ticket}: swapped the part"
        ]
        assert notes.count() == 2


def test_asking_says_what_went_wrong_and_changes_nothing(setting: Setting):
    connector, server = setting
    ticket = live(connector)
    server.faults = [Reply(500)]
    assert poll(connector) == 0
    connector.refresh_from_db()
    ticket.refresh_from_db()
    assert (connector.asking_failed, ticket.state) == ("HTTP 500", TicketState.LIVE)


def test_a_test_asks_something_harmless(setting: Setting):
    connector, server = setting
    delivery = connectors.test_connector(actor=actor(), connector=connector)
    turn(connector)
    delivery.refresh_from_db()
    assert (delivery.state, server.tickets) == ("delivered", {})


def test_a_test_with_a_wrong_secret_says_401(setting: Setting):
    connector, _ = setting
    fields = {"secret": "wrong"}
    connectors.change_connector(actor=actor(), connector=connector, fields=fields)
    delivery = connectors.test_connector(actor=actor(), connector=connector)
    turn(connector)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.reason) == ("given-up", "HTTP 401")


def test_a_private_address_is_refused_like_a_webhooks(jira: Setting, settings):
    connector, server = jira
    settings.WEBHOOK_NETWORKS = []
    ticket = asked(connector)
    turn(connector)
    ticket.refresh_from_db()
    assert "private address" in ticket.error
    assert server.receiver.received == []


def test_an_answer_that_makes_no_sense_is_tried_again(setting: Setting):
    connector, server = setting
    server.faults = [Reply(200, body=b"<html>log in</html>"), Reply(200, body=b"[1]")]
    ticket = asked(connector)
    for _ in range(3):
        turn(connector)
    ticket.refresh_from_db()
    assert (ticket.state, len(server.tickets)) == (TicketState.LIVE, 1)
