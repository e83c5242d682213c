"""Refuses early, by the same table that the services ask (`incidents.roles`)."""

from collections.abc import Mapping
from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from incidents.api.authentication import actor_of
from incidents.roles import Capability


class RolePermission(BasePermission):
    """Asks for the capability that the view names for this method in `needs`.

    A method that is not named there needs `read`, which every role has; the services behind the
    writes ask again.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        """True, or `NotAllowed` saying which role or scope is missing."""
        needs: Mapping[str, Capability] = getattr(view, "needs", {})
        actor_of(request).require(needs.get(_method(request), Capability.READ))
        return True


def _method(request: Request) -> str:
    return "GET" if request.method in {"GET", "HEAD", "OPTIONS", None} else str(request.method)
