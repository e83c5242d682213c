"""Logging in; everything needs it unless it says otherwise."""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import LoginView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, resolve_url

_READING = frozenset({"GET", "HEAD"})


class LogIn(LoginView):
    """The log-in: by password, through the identity provider, or both, as the settings say."""

    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        offered = {"sign_on": settings.SIGN_ON, "passwords": settings.PASSWORD_LOGIN}
        return super().get_context_data(**offered, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.PASSWORD_LOGIN:
            raise PermissionDenied("Passwords are switched off here; use single sign-on.")
        return super().post(request, *args, **kwargs)


class LoginRequired(LoginRequiredMiddleware):
    """Sends whoever is not signed in to the log-in, and from there back to the page they were on.

    A live part is told instead (401): the page stays with what someone reads and types.
    """

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        live = request.headers.get("HX-Request")
        if not live and request.method in _READING:
            return super().handle_no_permission(request, view_func)
        page = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
        login = f"{resolve_url(self.get_login_url(view_func))}?{urlencode({'next': _path(page)})}"
        if not live:
            return redirect(login)
        told = json.dumps({"signedout": {"login": login}})
        return HttpResponse(status=HTTPStatus.UNAUTHORIZED, headers={"HX-Trigger": told})


def _path(page: str) -> str:
    """The page's path and query on this instance, whatever host the header names."""
    parts = urlsplit(page)
    return f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
