"""Tokens, and who one is."""

from typing import cast

from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api import examples
from incidents.api.describing import takes
from incidents.api.idempotency import idempotent
from incidents.api.serializers.tokens import (
    IssuedTokenSerializer,
    MeSerializer,
    TokenRequestSerializer,
    TokenSerializer,
)
from incidents.api.viewsets.base import RecordViewSet, address, record_of, recorded
from incidents.models import ApiToken, User
from incidents.roles import Capability
from incidents.services import tokens


class TokenViewSet(RecordViewSet):
    """Tokens by which programs use this API."""

    needs = dict.fromkeys(("GET", "POST", "DELETE"), Capability.OPERATE)
    queryset = selectors.tokens()
    serializer_class = TokenSerializer

    def list(self, request: Request) -> Response:
        """Tokens, newest first, revoked and expired ones as well."""
        return self.page(selectors.tokens())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One token; never its text."""
        return Response(self.shown(record_of(selectors.tokens(), pk)))

    @takes(
        TokenRequestSerializer,
        gives={201: IssuedTokenSerializer},
        examples=[examples.TOKEN],
    )
    @idempotent(hiding=("token",))
    def create(self, request: Request) -> Response:
        """Issue a token. Its text is in this answer and nowhere else."""
        given = self.given(TokenRequestSerializer)
        owner = given.pop("owner", None) or cast("User", request.user)
        issued = tokens.issue(actor=self.actor, owner=owner, **given)
        shown = {**self.shown(issued.token), "token": issued.raw}
        return recorded(shown, at=address("token", issued.token.pk))

    def destroy(self, request: Request, pk: int) -> Response:
        """Revoke a token, for good."""
        tokens.revoke(actor=self.actor, token=record_of(selectors.tokens(), pk))
        return Response(status=204)


class MeViewSet(RecordViewSet):
    """Who is asking."""

    queryset = selectors.tokens()
    serializer_class = MeSerializer
    pagination_class = None

    def retrieve(self, request: Request) -> Response:
        """User, role, what that allows, and the token that was sent."""
        token = request.auth if isinstance(request.auth, ApiToken) else None
        return Response(
            MeSerializer(
                {
                    "username": request.user.get_username(),
                    "role": self.actor.role,
                    "capabilities": sorted(self.actor.capabilities),
                    "clusters": _names(self.actor.reach.clusters),
                    "owners": _names(self.actor.reach.owners),
                    "token": token,
                }
            ).data
        )


def _names(limit: frozenset[str] | None) -> list[str] | None:
    return None if limit is None else sorted(limit)
