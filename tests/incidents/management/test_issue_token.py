"""`manage.py issue_token`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from incidents.choices import Role
from incidents.services import tokens
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def issue(*arguments: str) -> str:
    out = StringIO()
    call_command("issue_token", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue().strip()


def test_what_is_printed_is_the_token():
    owner = UserFactory(role=Role.OPERATOR)
    token = tokens.authenticate(raw=issue(owner.username, "--name", "tickets", "--scope", "read"))
    assert token is not None
    assert (token.owner, token.name, token.scopes) == (owner, "tickets", ["read"])


def test_without_scopes_it_may_do_what_its_owner_may():
    owner = UserFactory(role=Role.RESPONDER)
    token = tokens.authenticate(raw=issue(owner.username, "--name", "tickets"))
    assert token is not None
    assert token.scopes == ["read", "respond"]


@pytest.mark.parametrize("days", ["0", "-1", "999999999"])
def test_a_life_that_makes_no_sense_is_refused(days: str):
    with pytest.raises(CommandError):
        issue(UserFactory().username, "--name", "tickets", "--days", days)


def test_somebody_unknown_is_refused_by_name():
    with pytest.raises(CommandError, match="nobody called ghost"):
        issue("ghost", "--name", "tickets")
