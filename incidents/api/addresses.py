"""How an address and its methods are written down."""

from collections.abc import Mapping
from typing import Any

from django.urls import URLPattern, path

from incidents.api.viewsets.base import RecordViewSet

LIST: dict[str, Any] = {"get": "list"}
LIST_AND_CREATE: dict[str, Any] = {"get": "list", "post": "create"}
ONE: dict[str, Any] = {"get": "retrieve"}
ONE_TO_CHANGE: dict[str, Any] = {"get": "retrieve", "patch": "partial_update"}


def at(
    route: str, viewset: type[RecordViewSet], actions: Mapping[str, str], name: str
) -> URLPattern:
    """An address, with the viewset's action for each method."""
    return path(route, viewset.as_view(dict(actions)), name=name)
