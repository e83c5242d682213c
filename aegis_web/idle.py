"""Ends sessions that nobody uses: an open page that refreshes itself is no use."""

import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase

_SEEN = "seen_at"
#: Seconds after which a use is noted again: not every click is worth a write.
_NOTED_EVERY = 60


class EndIdleSessions:
    """Logs out whoever did nothing for `SESSION_IDLE_SECONDS`; before the log-in is asked for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated:
            self._look(request)
        return self.get_response(request)

    def _look(self, request: HttpRequest) -> None:
        now = int(time.time())
        seen = request.session.get(_SEEN)
        if isinstance(seen, int) and now - seen > settings.SESSION_IDLE_SECONDS:
            logout(request)
        elif not isinstance(seen, int) or (_is_use(request) and now - seen >= _NOTED_EVERY):
            request.session[_SEEN] = now


@receiver(user_logged_in, dispatch_uid="aegis_web.begin_session")
def begin_session(sender: object, request: HttpRequest, **kwargs: object) -> None:
    """A log-in is the first use; it is written with the session."""
    request.session[_SEEN] = int(time.time())


def _is_use(request: HttpRequest) -> bool:
    """Whether a person did something, and not a page that looks for news by itself."""
    return request.method != "GET" or "HX-Request" not in request.headers
