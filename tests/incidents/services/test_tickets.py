"""Links to tickets."""

import pytest

from incidents.exceptions import InvalidInput
from incidents.models import Event, TicketLink
from incidents.services.tickets import link_ticket, unlink_ticket
from tests.factories import IncidentFactory, actor

pytestmark = pytest.mark.django_db


def test_a_ticket_is_linked_once_with_an_event():
    incident = IncidentFactory()
    given = {"key": "OPS-1", "system": "Jira", "url": "https://jira.example/OPS-1"}
    first = link_ticket(actor=actor(), incident=incident, **given)
    again = link_ticket(actor=actor(), incident=incident, **given)
    assert (first[1], again) == (True, (first[0], False))
    assert Event.objects.filter(verb="ticket.linked").count() == 1


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"key": " "}, "key"),
        ({"key": "A", "url": "javascript:alert(1)"}, "url"),
        ({"key": "A", "url": "https://"}, "url"),
        ({"key": "A", "url": "//x"}, "url"),
    ],
)
def test_what_is_no_link_is_refused(given: dict[str, str], field: str):
    with pytest.raises(InvalidInput) as refused:
        link_ticket(actor=actor(), incident=IncidentFactory(), **given)
    assert refused.value.field == field


def test_a_link_is_taken_away_and_the_timeline_keeps_it():
    ticket, _ = link_ticket(actor=actor(), incident=IncidentFactory(), key="OPS-1")
    unlink_ticket(actor=actor(), ticket=ticket)
    assert not TicketLink.objects.exists()
    assert Event.objects.filter(verb="ticket.unlinked", data__key="OPS-1").exists()
