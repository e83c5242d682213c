"""The admin site as a part of the product: one log-in, one page for those it is not for."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache


class SettingsSite(admin.AdminSite):
    """Knowledge, people and records, for the roles that work on them."""

    site_title = "Aegis"
    site_header = "Aegis"
    index_title = "Settings"

    @method_decorator([never_cache, login_not_required])
    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Where Django sends whoever may not see a page: to the product's log-in, or its 403."""
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            raise PermissionDenied("Settings are for taxonomists, operators and administrators.")
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))

    def password_change(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page that everyone has for it."""
        return redirect("password")
