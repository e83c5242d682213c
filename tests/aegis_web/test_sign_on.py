"""Single sign-on, from the button to the session, against a provider that answers over HTTP."""

import importlib
from collections.abc import Iterator

import pytest
from axes.models import AccessAttempt
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.test import Client
from django.urls import NoReverseMatch, clear_url_caches, reverse

from aegis_web import urls
from aegis_web.sign_on_settings import sign_on_of
from incidents.choices import Role
from incidents.models import Event, User
from tests.factories import UserFactory
from tests.identity_provider import CLIENT, SECRET, Provider, identity_provider, new_key

pytestmark = pytest.mark.django_db

ANNA = {
    "sub": "42",
    "preferred_username": "anna",
    "email": "anna@example.org",
    "email_verified": True,
    "groups": ["staff", "sre"],
}


def switch_on(settings, provider: Provider, **more: str) -> None:
    environment = {
        "AEGIS_OIDC_ISSUER": provider.url,
        "AEGIS_OIDC_AUTHORIZATION_URL": f"{provider.url}/authorize",
        "AEGIS_OIDC_TOKEN_URL": f"{provider.url}/token",
        "AEGIS_OIDC_USERINFO_URL": f"{provider.url}/userinfo",
        "AEGIS_OIDC_JWKS_URL": f"{provider.url}/jwks",
        "AEGIS_OIDC_CLIENT_ID": CLIENT,
        "AEGIS_OIDC_CLIENT_SECRET": SECRET,
        "AEGIS_OIDC_ROLES": '{"sre": "operator", "heads": "admin"}',
        **more,
    }
    settings.SIGN_ON = sign_on_of(environment)
    for name, value in settings.SIGN_ON.library_settings().items():
        setattr(settings, name, value)


@pytest.fixture
def provider(settings) -> Iterator[Provider]:
    with identity_provider() as running:
        running.userinfo = dict(ANNA)
        switch_on(settings, running, AEGIS_OIDC_PROVIDER="Example ID")
        settings.AUTHENTICATION_BACKENDS = [
            *settings.AUTHENTICATION_BACKENDS,
            "aegis_web.sign_on.SignOnBackend",
        ]
        reload_addresses()
        yield running
    settings.SIGN_ON = None
    reload_addresses()


def reload_addresses() -> None:
    importlib.reload(urls)
    clear_url_caches()


def sign_in(client: Client, provider: Provider, **bent: str):
    """The whole flow; `bent` replaces what the browser brings back."""
    start = client.get("/sign-on/start", {"next": "/jobs"})
    return client.get("/sign-on/callback", {**provider.allow(start["Location"]), **bent})


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_someone_new_signs_in_with_the_role_of_their_group_and_leaves_an_event(provider: Provider):
    client = Client()
    assert sign_in(client, provider)["Location"] == "/jobs"
    anna = User.objects.get()
    assert (anna.username, anna.email, anna.role) == ("anna", "anna@example.org", Role.OPERATOR)
    assert not anna.has_usable_password()
    assert client.get("/jobs").status_code == 200
    assert Event.objects.get().verb == "user.added"


def test_they_log_out_again(provider: Provider):
    client = Client()
    sign_in(client, provider)
    assert client.post("/logout")["Location"] == "/login"
    assert client.get("/jobs").status_code == 302


@pytest.mark.parametrize("groups", [None, [], ["heads of nothing"], "admin", 7, {"heads": 1}])
def test_groups_without_a_role_make_a_viewer(provider: Provider, groups):
    provider.userinfo["groups"] = groups
    sign_in(Client(), provider)
    assert User.objects.get().role == Role.VIEWER


def test_of_several_groups_the_most_powerful_role_counts(provider: Provider):
    provider.userinfo["groups"] = ["sre", "heads"]
    sign_in(Client(), provider)
    assert User.objects.get().role == Role.ADMIN


def test_the_role_follows_the_groups_at_the_next_log_in(provider: Provider):
    sign_in(Client(), provider)
    provider.userinfo["groups"] = []
    sign_in(Client(), provider)
    assert User.objects.get().role == Role.VIEWER
    assert Event.objects.filter(verb="user.role").count() == 1


def test_the_last_administrator_keeps_the_role_whatever_the_groups_say(provider: Provider):
    boss = UserFactory(username="boss", email=ANNA["email"], role=Role.ADMIN)
    client = Client()
    sign_in(client, provider)
    boss.refresh_from_db()
    assert (signed_in(client), boss.role) == (True, Role.ADMIN)


def test_without_a_mapping_the_role_that_an_administrator_gave_stays(provider: Provider, settings):
    switch_on(settings, provider, AEGIS_OIDC_ROLES="{}")
    anna = UserFactory(username="anna", email=ANNA["email"], role=Role.TAXONOMIST)
    sign_in(Client(), provider)
    anna.refresh_from_db()
    assert anna.role == Role.TAXONOMIST


def test_a_verified_e_mail_leads_to_the_account_that_has_it(provider: Provider):
    known = UserFactory(username="a.smith", email="Anna@example.org", role=Role.OPERATOR)
    client = Client()
    sign_in(client, provider)
    assert client.session["_auth_user_id"] == str(known.pk)
    assert Event.objects.filter(verb="user.linked").exists()


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_unverified_e_mail_leads_to_nobodys_account(provider: Provider, verified):
    UserFactory(username="a.smith", email=ANNA["email"])
    provider.userinfo["email_verified"] = verified
    client = Client()
    page = client.get(sign_in(client, provider)["Location"]).content.decode()
    assert "has not verified the e-mail" in page
    assert not signed_in(client)
    assert Event.objects.get().verb == "user.refused"


def test_a_name_alone_leads_to_nobodys_account(provider: Provider):
    UserFactory(username="Anna")
    client = Client()
    sign_in(client, provider)
    assert not signed_in(client)
    assert User.objects.count() == 1


def test_another_subject_with_the_same_e_mail_is_refused(provider: Provider):
    sign_in(Client(), provider)
    provider.userinfo |= {"sub": "43", "preferred_username": "anna2"}
    client = Client()
    sign_in(client, provider)
    assert not signed_in(client)


def test_whoever_was_switched_off_stays_out(provider: Provider):
    client = Client()
    sign_in(client, provider)
    User.objects.update(is_active=False)
    request = HttpRequest()
    request.session = client.session
    assert get_user(request).is_anonymous
    sign_in(client, provider)
    assert client.get("/jobs").status_code == 302


def test_a_wrong_state_lets_nobody_in(provider: Provider):
    client = Client()
    assert sign_in(client, provider, state="guessed")["Location"] == "/login"
    assert not signed_in(client)
    assert "did not work" in client.get("/login").content.decode()


def test_a_callback_counts_once(provider: Provider):
    client = Client()
    back = provider.allow(client.get("/sign-on/start")["Location"])
    client.get("/sign-on/callback", back)
    client.post("/logout")
    assert client.get("/sign-on/callback", back)["Location"] == "/login"
    assert not signed_in(client)


def test_a_callback_in_another_browser_lets_nobody_in(provider: Provider):
    back = provider.allow(Client().get("/sign-on/start")["Location"])
    other = Client()
    assert other.get("/sign-on/callback", back)["Location"] == "/login"
    assert not signed_in(other)


@pytest.mark.parametrize(
    "bent",
    [
        {"nonce": "of another flow"},
        {"nonce": None},
        {"iss": "https://elsewhere.example"},
        {"aud": "another client"},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"exp": 1},
        {"exp": None},
        {"sub": "43"},
        {"sub": None},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_this_log_in_lets_nobody_in(provider: Provider, bent):
    provider.token = bent
    client = Client()
    assert sign_in(client, provider)["Location"] == "/login"
    assert not signed_in(client)
    assert not User.objects.exists()


def test_a_signature_by_another_key_lets_nobody_in(provider: Provider):
    provider.published_key = new_key()
    client = Client()
    assert sign_in(client, provider)["Location"] == "/login"
    assert not signed_in(client)


def test_a_code_that_the_provider_refuses_is_noted_without_the_code_and_locks_nobody_out(
    provider: Provider, settings
):
    settings.AXES_ENABLED = True
    settings.AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code", "state"]
    settings.AXES_FAILURE_LIMIT = "aegis_web.sign_on.failures_before_lock"
    settings.LOGIN_FAILURES = 2
    for _ in range(3):
        assert sign_in(Client(), provider, code="stolen")["Location"] == "/login"
    attempt = AccessAttempt.objects.get()
    assert attempt.failures_since_start == 3
    assert "stolen" not in attempt.get_data
    client = Client()
    sign_in(client, provider)
    assert signed_in(client)


def test_wrong_passwords_still_lock_beside_single_sign_on(provider: Provider, settings):
    settings.AXES_ENABLED = True
    settings.AXES_FAILURE_LIMIT = "aegis_web.sign_on.failures_before_lock"
    settings.LOGIN_FAILURES = 2
    for _ in range(2):
        response = Client().post("/login", {"username": "x", "password": "y"})
    assert response.status_code == 429


def test_the_log_in_offers_both_ways_and_keeps_the_policy(provider: Provider):
    response = Client().get("/login?next=/jobs%3Fstate%3Drunning%26page%3D2")
    page = response.content.decode()
    assert "Sign in with Example ID" in page
    assert "/sign-on/start?next=%2Fjobs%3Fstate%3Drunning%26page%3D2" in page
    assert 'type="password"' in page
    assert "form-action 'self'" in response["Content-Security-Policy"]


def test_passwords_switched_off_are_neither_asked_nor_taken(provider: Provider, settings):
    settings.PASSWORD_LOGIN = False
    anna = UserFactory(username="anna")
    anna.set_password("correct horse")
    anna.save()
    client = Client()
    assert 'type="password"' not in client.get("/login").content.decode()
    answer = client.post("/login", {"username": "anna", "password": "correct horse"})
    assert answer.status_code == 403
    assert not signed_in(client)


def test_a_foreign_address_is_no_page_to_go_on_to(provider: Provider):
    client = Client()
    start = client.get("/sign-on/start", {"next": "https://elsewhere.example/"})
    back = client.get("/sign-on/callback", provider.allow(start["Location"]))
    assert back["Location"] == "/"


def test_switched_off_there_are_no_addresses_and_no_button():
    with pytest.raises(NoReverseMatch):
        reverse("sign-on-start")
    assert Client().get("/sign-on/callback").status_code in {302, 404}
    assert "Sign in with" not in Client().get("/login").content.decode()
