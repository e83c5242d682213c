"""Single sign-on as the environment describes it: off without an issuer, refused where unsound."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from incidents.choices import Role
from incidents.roles import RoleRule

_PREFIX = "AEGIS_OIDC_"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ALGORITHMS = frozenset({"RS256", "RS384", "RS512", "ES256", "ES384", "ES512"})
_TOKEN_AUTH = frozenset({"post", "basic"})


@dataclass(frozen=True, slots=True)
class SignOn:
    """An OpenID Connect provider and what its claims mean here."""

    issuer: str
    authorization_url: str
    token_url: str
    userinfo_url: str
    jwks_url: str
    client_id: str
    client_secret: str
    scopes: str
    algorithm: str
    basic_auth: bool
    name_claim: str
    email_claim: str
    provider: str
    roles: RoleRule

    def library_settings(self) -> dict[str, object]:
        """The same in the words of `mozilla_django_oidc`."""
        return {
            "OIDC_OP_AUTHORIZATION_ENDPOINT": self.authorization_url,
            "OIDC_OP_TOKEN_ENDPOINT": self.token_url,
            "OIDC_OP_USER_ENDPOINT": self.userinfo_url,
            "OIDC_OP_JWKS_ENDPOINT": self.jwks_url,
            "OIDC_RP_CLIENT_ID": self.client_id,
            "OIDC_RP_CLIENT_SECRET": self.client_secret,
            "OIDC_RP_SIGN_ALGO": self.algorithm,
            "OIDC_RP_SCOPES": self.scopes,
            "OIDC_TOKEN_USE_BASIC_AUTH": self.basic_auth,
            "OIDC_USE_PKCE": True,
            "OIDC_TIMEOUT": 10,
            "OIDC_AUTHENTICATION_CALLBACK_URL": "sign-on-callback",
        }


def sign_on_of(environment: Mapping[str, str]) -> SignOn | None:
    """The provider that the environment names, or None where it names none.

    Raises `ValueError`, which begins with the variable's name, for what is missing or bad.
    """
    if not environment.get(f"{_PREFIX}ISSUER"):
        stray = sorted(name for name in environment if name.startswith(_PREFIX))
        if stray:
            raise ValueError(f"{_PREFIX}ISSUER is missing, but {stray[0]} is set")
        return None
    scopes = _given(environment, "SCOPES", "openid email profile").split()
    if "openid" not in scopes:
        raise ValueError(f"{_PREFIX}SCOPES must contain openid")
    return SignOn(
        issuer=_address(environment, "ISSUER"),
        authorization_url=_address(environment, "AUTHORIZATION_URL"),
        token_url=_address(environment, "TOKEN_URL"),
        userinfo_url=_address(environment, "USERINFO_URL"),
        jwks_url=_address(environment, "JWKS_URL"),
        client_id=_given(environment, "CLIENT_ID"),
        client_secret=_given(environment, "CLIENT_SECRET"),
        scopes=" ".join(scopes),
        algorithm=_one_of(environment, "ALGORITHM", "RS256", _ALGORITHMS),
        basic_auth=_one_of(environment, "TOKEN_AUTH", "post", _TOKEN_AUTH) == "basic",
        name_claim=_given(environment, "NAME_CLAIM", "preferred_username"),
        email_claim=_given(environment, "EMAIL_CLAIM", "email"),
        provider=_given(environment, "PROVIDER", "single sign-on"),
        roles=_role_rule(environment),
    )


def _given(environment: Mapping[str, str], name: str, default: str = "") -> str:
    value = environment.get(_PREFIX + name, "").strip() or default
    if not value:
        raise ValueError(f"{_PREFIX}{name} is missing; single sign-on needs it")
    return value


def _address(environment: Mapping[str, str], name: str) -> str:
    value = _given(environment, name)
    parts = urlsplit(value)
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not safe or not parts.hostname:
        raise ValueError(f"{_PREFIX}{name} must be an https address, not {value!r}")
    return value


def _one_of(environment: Mapping[str, str], name: str, default: str, known: frozenset[str]) -> str:
    value = _given(environment, name, default)
    if value not in known:
        raise ValueError(
            f"{_PREFIX}{name} must be one of {', '.join(sorted(known))}, not {value!r}"
        )
    return value


def _role_rule(environment: Mapping[str, str]) -> RoleRule:
    """Administrators come from the mapping alone: nobody becomes one by default."""
    ordinary = frozenset(role.value for role in Role if role != Role.ADMIN)
    return RoleRule(
        claim=_given(environment, "ROLE_CLAIM", "groups"),
        roles=_mapping(environment),
        default=Role(_one_of(environment, "DEFAULT_ROLE", Role.VIEWER.value, ordinary)),
    )


def _mapping(environment: Mapping[str, str]) -> dict[str, Role]:
    try:
        given = json.loads(_given(environment, "ROLES", "{}"))
    except ValueError as error:
        raise ValueError(f'{_PREFIX}ROLES must be like {{"sre": "operator"}}: {error}') from error
    if not isinstance(given, dict) or not all(role in Role.values for role in given.values()):
        known = ", ".join(Role.values)
        raise ValueError(f'{_PREFIX}ROLES must be like {{"sre": "operator"}}; roles are {known}')
    return {group: Role(role) for group, role in given.items()}
