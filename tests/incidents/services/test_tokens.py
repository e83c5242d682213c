"""API tokens."""

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.choices import Role
from incidents.exceptions import InvalidInput, NotAllowed
from incidents.models import ApiToken, Event
from incidents.roles import Actor
from incidents.services import tokens
from tests.factories import UserFactory, actor

pytestmark = pytest.mark.django_db


def issue(role: Role = Role.OPERATOR, **given) -> tokens.IssuedToken:
    settled = {
        "owner": given.pop("owner", None) or UserFactory(role=Role.OPERATOR),
        "name": "ticket system",
        "scopes": ["read", "respond"],
        "expires_at": timezone.now() + timedelta(days=30),
    }
    return tokens.issue(actor=actor(role), **{**settled, **given})


def test_a_token_is_recognised_by_the_text_that_was_shown_once():
    issued = issue()
    assert tokens.authenticate(raw=issued.raw) == issued.token


def test_the_secret_is_stored_nowhere():
    issued = issue()
    secret = issued.raw.split("_", 2)[2]
    stored = [*ApiToken.objects.values(), *Event.objects.values()]
    assert secret not in str(stored)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw[:-1] + ("a" if raw[-1] != "a" else "b"),
        lambda raw: raw.replace("aegis", "other"),
        lambda raw: raw.rsplit("_", 1)[0] if raw.count("_") == 2 else "aegis_x",
        lambda raw: "",
    ],
)
def test_another_text_is_no_token(spoil):
    assert tokens.authenticate(raw=spoil(issue().raw)) is None


def test_an_expired_token_is_no_token():
    issued = issue()
    ApiToken.objects.update(expires_at=timezone.now())
    assert tokens.authenticate(raw=issued.raw) is None


def test_a_revoked_token_is_no_token_and_revoking_again_leaves_no_second_event():
    issued = issue()
    for _ in range(2):
        tokens.revoke(actor=actor(), token=issued.token)
    assert tokens.authenticate(raw=issued.raw) is None
    assert Event.objects.filter(verb="token.revoked").count() == 1


def test_a_token_ends_with_its_owner():
    issued = issue()
    issued.token.owner.is_active = False
    issued.token.owner.save()
    assert tokens.authenticate(raw=issued.raw) is None


def test_a_token_may_do_what_both_its_scopes_and_its_owner_may():
    issued = issue(scopes=["read", "operate"], owner=UserFactory(role=Role.RESPONDER))
    assert Actor.of_token(issued.token).capabilities == {"read"}


def test_nobody_gives_away_more_than_they_may_do():
    with pytest.raises(NotAllowed, match="administer"):
        issue(scopes=["administer"], owner=UserFactory(role=Role.ADMIN))


@pytest.mark.parametrize("scopes", [[], ["everything"]])
def test_scopes_must_be_known_and_some(scopes: list[str]):
    with pytest.raises(InvalidInput):
        issue(scopes=scopes)


def test_a_token_that_has_expired_already_is_not_made():
    with pytest.raises(InvalidInput):
        issue(expires_at=timezone.now())


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER, Role.TAXONOMIST])
def test_making_tokens_takes_an_operator(role: Role):
    with pytest.raises(NotAllowed):
        issue(role, scopes=["read"])


def test_use_is_noted_at_most_once_a_minute(django_assert_num_queries):
    issued = issue()
    tokens.authenticate(raw=issued.raw)
    issued.token.refresh_from_db()
    assert issued.token.last_used_at is not None
    with django_assert_num_queries(1):
        tokens.authenticate(raw=issued.raw)
