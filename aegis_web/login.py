"""Everything needs a login unless it says otherwise."""

from collections.abc import Callable
from http import HTTPStatus

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect


class LoginRequired(LoginRequiredMiddleware):
    """Sends a live part whose login ended to the log-in as a whole page, not into the page."""

    def handle_no_permission(
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseRedirect:
        response = super().handle_no_permission(request, view_func)
        if not request.headers.get("HX-Request"):
            return response
        response["HX-Redirect"] = response["Location"]
        del response["Location"]
        response.status_code = HTTPStatus.OK
        return response
