"""The table of roles, and who an actor is."""

import pytest

from incidents.choices import Role, Source
from incidents.exceptions import NotAllowed
from incidents.roles import CAPABILITIES, Actor, Capability
from tests.factories import UserFactory, actor

EXPECTED = {
    Role.VIEWER: {"read"},
    Role.RESPONDER: {"read", "respond"},
    Role.TAXONOMIST: {"read", "edit_taxonomy"},
    Role.OPERATOR: {"read", "respond", "register_jobs", "operate", "execute"},
    Role.ADMIN: {
        "read",
        "respond",
        "register_jobs",
        "operate",
        "execute",
        "edit_taxonomy",
        "administer",
    },
}


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("capability", list(Capability))
def test_a_role_may_do_what_the_table_says_and_nothing_else(role: Role, capability: Capability):
    assert actor(role).may(capability) == (capability.value in EXPECTED[role])


def test_every_role_has_its_line_in_the_table():
    assert set(CAPABILITIES) == set(Role)


def test_a_refusal_says_which_roles_may():
    with pytest.raises(NotAllowed, match="needs: responder, operator, administrator"):
        actor(Role.VIEWER).require(Capability.RESPOND)


def test_scopes_narrow_a_role_and_the_refusal_names_the_scope():
    narrowed = actor(Role.ADMIN, scopes=frozenset({Capability.READ}))
    with pytest.raises(NotAllowed, match="scope 'respond'"):
        narrowed.require(Capability.RESPOND)


def test_scopes_never_widen_a_role():
    assert not actor(Role.VIEWER, scopes=frozenset(Capability)).may(Capability.ADMINISTER)


@pytest.mark.django_db
def test_someone_deactivated_may_do_nothing():
    person = UserFactory(role=Role.ADMIN, is_active=False)
    assert not Actor.of_user(person, source=Source.BROWSER).capabilities
