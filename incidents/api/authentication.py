"""Who is asking: a program by its token, or a signed-in person by the session."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.request import Request

from incidents.choices import Source
from incidents.models import ApiToken, User
from incidents.reach import limit
from incidents.roles import Actor
from incidents.services import tokens

_SCHEME = "bearer"


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer aegis_…` (RFC 6750)."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Owner and token; None where no bearer token was sent."""
        scheme, _, raw = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != _SCHEME:
            return None
        token = tokens.authenticate(raw=raw)
        if token is None:
            raise AuthenticationFailed("The token is unknown, expired or revoked.")
        limit(Actor.of_token(token).reach)
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        """The challenge of a 401; names the error only where a token was sent."""
        sent = request.headers.get("Authorization", "").lower().startswith(f"{_SCHEME} ")
        return 'Bearer realm="aegis"' + (', error="invalid_token"' if sent else "")


def actor_of(request: Request) -> Actor:
    """Who acts in this request. Raises `NotAuthenticated` where nobody signed in."""
    if isinstance(request.auth, ApiToken):
        return Actor.of_token(request.auth, source=Source.API)
    if isinstance(request.user, User):
        return Actor.of_user(request.user, source=Source.API)
    raise NotAuthenticated
