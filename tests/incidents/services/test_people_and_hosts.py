"""Roles of people, and where hosts stand."""

import pytest

from incidents.choices import HostState, Role
from incidents.exceptions import InvalidInput, NotAllowed
from incidents.models import Event
from incidents.services import hosts, people
from tests.factories import HostFactory, UserFactory, actor

pytestmark = pytest.mark.django_db


def test_a_new_role_is_given_and_recorded():
    person = people.set_role(actor=actor(Role.ADMIN), user=UserFactory(), role=Role.TAXONOMIST)
    assert (person.role, person.is_staff) == (Role.TAXONOMIST, True)
    assert Event.objects.get().verb == "user.role"


def test_the_last_active_administrator_stays_one():
    UserFactory(role=Role.ADMIN, is_active=False)
    last = UserFactory(role=Role.ADMIN)
    with pytest.raises(InvalidInput):
        people.set_role(actor=actor(Role.ADMIN), user=last, role=Role.VIEWER)


def test_roles_are_given_by_administrators():
    with pytest.raises(NotAllowed):
        people.set_role(actor=actor(Role.OPERATOR), user=UserFactory(), role=Role.ADMIN)


def test_a_hosts_state_is_noted_with_what_it_was():
    host = hosts.set_state(
        actor=actor(), host=HostFactory(), state=HostState.ISOLATED, note="drained"
    )
    event = Event.objects.get(host=host)
    assert event.data == {"before": "in-service", "state": "isolated"}
    assert event.text.endswith("in service → isolated: drained")


def test_a_responder_does_not_isolate_hosts():
    with pytest.raises(NotAllowed):
        hosts.set_state(actor=actor(Role.RESPONDER), host=HostFactory(), state=HostState.ISOLATED)
