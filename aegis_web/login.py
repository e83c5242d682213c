"""Everything needs a login unless it says otherwise."""

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponseBase
from django_htmx.http import HttpResponseClientRedirect


class LoginRequired(LoginRequiredMiddleware):
    """Sends a live part whose login ended to the log-in as a whole page, not into the page."""

    def handle_no_permission(
        self, request: HttpRequest, view_func: object
    ) -> HttpResponseBase:
        response = super().handle_no_permission(request, view_func)
        if not request.headers.get("HX-Request"):
            return response
        return HttpResponseClientRedirect(response["Location"])
