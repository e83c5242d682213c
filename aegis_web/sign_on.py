"""Signing in through an OpenID Connect provider: the code flow's two pages and its backend.

The library checks state, nonce, PKCE and the signature; issuer, audience and subject are checked
here.
"""

import logging
import sys
from collections.abc import Mapping
from typing import Any

import jwt
import requests
from axes.helpers import get_client_ip_address, get_client_username
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ImproperlyConfigured, PermissionDenied, SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView

from aegis_web.sign_on_settings import SignOn
from incidents.exceptions import NotAllowed
from incidents.models import User
from incidents.roles_backend import RoleBackend
from incidents.services.people import sign_on_failed
from incidents.services.sign_on import Identity, sign_on

_log = logging.getLogger(__name__)
_TRY_AGAIN = "Signing in did not work. Try again; if it keeps failing, tell whoever runs this."
_FAULTS = (
    SuspiciousOperation,
    jwt.PyJWTError,
    requests.RequestException,
    LookupError,
    TypeError,
    ValueError,
)


class SignOnBackend(OIDCAuthenticationBackend, RoleBackend):
    """Turns a code of the provider into a person; permission is answered by role as ever."""

    get_user = RoleBackend.get_user

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """None for log-ins of another kind; raises `PermissionDenied` where this one failed."""
        if request is None or "nonce" not in kwargs:
            return None
        try:
            person = super().authenticate(request, **kwargs)
        except NotAllowed as error:
            messages.error(request, f"You were not let in. {error}")
            raise PermissionDenied(str(error)) from error
        except _FAULTS as error:
            _log.warning("single sign-on failed: %s", error)
            sign_on_failed(address=get_client_ip_address(request) or "")
            raise PermissionDenied(_TRY_AGAIN) from error
        return person if isinstance(person, User) else None

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """What a signed token says, meant for this client by this issuer.

        Raises `SuspiciousOperation` otherwise.
        """
        provider = _provider()
        payload: dict[str, Any] = super().verify_token(token, **kwargs)
        audience = payload.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if payload.get("iss") != provider.issuer:
            raise SuspiciousOperation("The token is of another issuer.")
        if provider.client_id not in audiences:
            raise SuspiciousOperation("The token is meant for another client.")
        if payload.get("azp", provider.client_id) != provider.client_id:
            raise SuspiciousOperation("The token was issued to another client.")
        return payload

    def get_or_create_user(
        self, access_token: str, id_token: str, payload: Mapping[str, Any]
    ) -> User:
        """The person of a verified ID token and the userinfo that belongs to it."""
        if "exp" not in payload:
            raise ValueError("The ID token never expires.")
        provider = _provider()
        told = self.get_userinfo(access_token, id_token, payload)
        if not payload.get("sub") or told.get("sub") != payload["sub"]:
            raise ValueError("The userinfo is of someone else than the ID token.")
        claims = {**payload, **told}
        identity = Identity(
            subject=f"{provider.issuer} {payload['sub']}",
            name=str(claims.get(provider.name_claim) or ""),
            email=str(claims.get(provider.email_claim) or ""),
            email_verified=claims.get("email_verified") is True,
        )
        return sign_on(identity=identity, claims=claims, rule=provider.roles)


class SignOnCallback(OIDCAuthenticationCallbackView):
    """Where the provider sends people back to; a failure ends at the log-in and says what to do."""

    def get(self, request: HttpRequest) -> HttpResponse:
        try:
            answer: HttpResponse = super().get(request)
        except SuspiciousOperation as error:
            _log.warning("single sign-on failed: %s", error)
            return self.login_failure()
        return answer

    def login_failure(self) -> HttpResponse:
        if not messages.get_messages(self.request):
            messages.error(self.request, _TRY_AGAIN)
        return redirect("login")


def _provider() -> SignOn:
    if settings.SIGN_ON is None:
        raise ImproperlyConfigured("Single sign-on is off: AEGIS_OIDC_ISSUER is not set.")
    return settings.SIGN_ON


def failures_before_lock(request: HttpRequest, credentials: Mapping[str, Any] | None) -> int:
    """Names are locked after wrong passwords. A sign-on guesses none, and has no name to lock."""
    named = get_client_username(request, credentials)
    return settings.LOGIN_FAILURES if named else sys.maxsize
