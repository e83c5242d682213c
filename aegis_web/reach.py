"""Limits each request to the reach of the person whose session it is."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from incidents.models import User
from incidents.reach import EVERYWHERE, limit, within
from incidents.roles import reach_of


class WithinReach:
    """Wraps every request; a token's reach is set where the token is recognised."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with within(EVERYWHERE):
            if isinstance(request.user, User):
                limit(reach_of(request.user))
            return self.get_response(request)
