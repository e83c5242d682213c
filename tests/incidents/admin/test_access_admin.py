"""People and tokens in the admin site."""

import re

import pytest
from django.urls import reverse

from incidents.choices import Role
from incidents.models import ApiToken, Event, User
from incidents.services import tokens
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

TOKEN = {"name": "bot", "expires_at_0": "2099-01-01", "expires_at_1": "00:00:00"}


def add_token(client, role: Role, scopes: list[str]):
    person = UserFactory(role=role)
    client.force_login(person)
    given = {**TOKEN, "owner": person.pk, "scopes": scopes}
    return client.post(reverse("admin:incidents_apitoken_add"), given, follow=True)


def test_a_new_token_is_shown_once_and_works(client):
    page = add_token(client, Role.OPERATOR, ["read", "respond"]).content.decode()
    (raw,) = re.findall(r"aegis_[\w-]+", page)
    assert tokens.authenticate(raw=raw) == ApiToken.objects.get()
    again = client.get(reverse("admin:incidents_apitoken_changelist")).content.decode()
    assert raw not in again


def test_a_scope_beyond_ones_own_is_refused_on_the_field(client):
    page = add_token(client, Role.OPERATOR, ["administer"]).content.decode()
    assert "cannot give away: administer" in page
    assert not ApiToken.objects.exists()


def test_a_scope_that_the_owner_does_not_have_is_refused_on_the_field(client):
    client.force_login(UserFactory(role=Role.ADMIN))
    owner = UserFactory(role=Role.VIEWER)
    given = {**TOKEN, "owner": owner.pk, "scopes": ["read", "respond"]}
    page = client.post(reverse("admin:incidents_apitoken_add"), given).content.decode()
    assert "may not: respond" in page
    assert not ApiToken.objects.exists()


def test_tokens_are_revoked_from_the_list(client):
    add_token(client, Role.OPERATOR, ["read"])
    chosen = [ApiToken.objects.get().pk]
    client.post(
        reverse("admin:incidents_apitoken_changelist"),
        {"action": "revoke", "_selected_action": chosen},
    )
    assert ApiToken.objects.get().revoked_at is not None


def person_form(person: User, **changes: str) -> dict[str, str]:
    fields = {"username": person.username, "role": person.role, "is_active": "on"}
    return {**fields, "first_name": "", "last_name": "", "email": "", "time_zone": "", **changes}


def test_an_administrator_gives_a_role_and_an_event_says_so(client):
    client.force_login(UserFactory(role=Role.ADMIN))
    person = UserFactory(role=Role.VIEWER)
    client.post(
        reverse("admin:incidents_user_change", args=[person.pk]),
        person_form(person, role=Role.TAXONOMIST),
    )
    person.refresh_from_db()
    assert (person.role, person.is_staff) == (Role.TAXONOMIST, True)
    assert Event.objects.get().verb == "user.changed"


def test_the_last_administrator_cannot_lock_everybody_out(client):
    last = UserFactory(role=Role.ADMIN)
    client.force_login(last)
    page = client.post(
        reverse("admin:incidents_user_change", args=[last.pk]),
        person_form(last, role=Role.VIEWER),
    )
    assert "Someone has to stay administrator" in page.content.decode()


def test_a_new_person_gets_a_password_and_a_role(client):
    client.force_login(UserFactory(role=Role.ADMIN))
    secret = "correct horse battery staple"
    client.post(
        reverse("admin:incidents_user_add"),
        {
            "username": "ada",
            "usable_password": "true",
            "password1": secret,
            "password2": secret,
            "role": Role.RESPONDER,
        },
    )
    ada = User.objects.get(username="ada")
    assert ada.check_password(secret)
    assert ada.role == Role.RESPONDER
