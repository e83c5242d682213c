"""What the environment may say of single sign-on."""

import pytest

from aegis_web.sign_on_settings import sign_on_of
from incidents.choices import Role

WHOLE = {
    "AEGIS_OIDC_ISSUER": "https://id.example",
    "AEGIS_OIDC_AUTHORIZATION_URL": "https://id.example/authorize",
    "AEGIS_OIDC_TOKEN_URL": "https://id.example/token",
    "AEGIS_OIDC_USERINFO_URL": "https://id.example/userinfo",
    "AEGIS_OIDC_JWKS_URL": "https://id.example/jwks",
    "AEGIS_OIDC_CLIENT_ID": "aegis",
    "AEGIS_OIDC_CLIENT_SECRET": "secret",
}


def test_nothing_set_is_off():
    assert sign_on_of({"AEGIS_TLS": "on"}) is None


def test_the_least_that_is_needed_gives_everyone_the_viewers_role():
    described = sign_on_of(WHOLE)
    assert described is not None
    assert described.roles.role_of({"groups": ["admin"]}) == Role.VIEWER


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_missing_is_named(name: str):
    with pytest.raises(ValueError, match=f"^{name} is missing"):
        sign_on_of({**WHOLE, name: ""})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AEGIS_OIDC_TOKEN_URL", "http://id.example/token"),
        ("AEGIS_OIDC_JWKS_URL", "file:///etc/passwd"),
        ("AEGIS_OIDC_SCOPES", "email"),
        ("AEGIS_OIDC_ALGORITHM", "none"),
        ("AEGIS_OIDC_ALGORITHM", "HS256"),
        ("AEGIS_OIDC_TOKEN_AUTH", "jwt"),
        ("AEGIS_OIDC_DEFAULT_ROLE", "admin"),
        ("AEGIS_OIDC_ROLES", "sre=operator"),
        ("AEGIS_OIDC_ROLES", '["sre"]'),
        ("AEGIS_OIDC_ROLES", '{"sre": "king"}'),
        ("AEGIS_OIDC_ROLES", '{"sre": ["admin"]}'),
    ],
)
def test_a_bad_value_is_refused_by_name(name: str, value: str):
    with pytest.raises(ValueError, match=f"^{name} must"):
        sign_on_of({**WHOLE, name: value})
