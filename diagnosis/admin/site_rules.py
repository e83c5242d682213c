"""Overrides, ignore rules and maintenance windows in the admin site."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from diagnosis.admin.forms import IgnoreForm, MaintenanceForm, SiteRuleForm
from diagnosis.admin.knowledge import Versioned
from diagnosis.models import IgnoreRule, MaintenanceWindow, SignatureOverride

#: How long a new ignore rule counts unless its author says otherwise.
_IGNORE_FOR = timedelta(days=30)


@admin.register(SignatureOverride)
class SignatureOverrideAdmin(Versioned):
    """What one cluster does differently with a signature."""

    form = SiteRuleForm
    list_display = ("signature", "cluster", "disabled", "fault_class", "action", "priority")
    list_filter = ("cluster", "disabled")
    search_fields = ("signature__code", "reason")
    list_select_related = ("signature", "cluster")


@admin.register(IgnoreRule)
class IgnoreRuleAdmin(Versioned):
    """What is left out on a host or in a cluster, and until when."""

    form = IgnoreForm
    list_display = ("__str__", "cluster", "host", "reason", "expires_at", "counts")
    list_filter = ("cluster", "expires_at")
    search_fields = ("signature__code", "pattern", "host", "reason")
    list_select_related = ("signature", "cluster")

    @admin.display(boolean=True, description="still counts")
    def counts(self, rule: IgnoreRule) -> bool:
        return not rule.is_over

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        expires_at = timezone.now().replace(minute=0, second=0, microsecond=0) + _IGNORE_FOR
        return {"expires_at": expires_at, **super().get_changeform_initial_data(request)}


@admin.register(MaintenanceWindow)
class MaintenanceWindowAdmin(Versioned):
    """Hosts, jobs and clusters under maintenance."""

    form = MaintenanceForm
    list_display = ("__str__", "cluster", "job", "starts_at", "ends_at", "reason")
    list_filter = ("cluster", "starts_at")
    search_fields = ("hosts", "job", "reason")
    list_select_related = ("cluster",)
