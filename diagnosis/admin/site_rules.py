"""Overrides, ignore rules and maintenance windows in the admin site."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from diagnosis.admin.forms import IgnoreForm, MaintenanceForm, SiteRuleForm
from diagnosis.admin.knowledge import Versioned
from diagnosis.admin.versions import needs_taxonomist
from diagnosis.models import IgnoreRule, MaintenanceWindow, SignatureOverride
from diagnosis.services import drafts
from diagnosis.services.rulebook import ignore_row, override_row, window_row
from diagnosis.services.site_drafts import put_site_rule
from diagnosis.taxonomy.fields import TaxonomyError
from incidents.admin.base import actor_of
from incidents.exceptions import RecordsError

#: How long a new ignore rule counts unless its author says otherwise.
_IGNORE_FOR = timedelta(days=30)


class SiteRuleAdmin(Versioned):
    """A rule that can be saved at once, or put into one's draft to be replayed first."""

    change_form_template = "admin/diagnosis/site_rule_form.html"
    section: ClassVar[str]
    as_row: ClassVar[Callable[[Any], dict[str, object]]]

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The form; with `_draft` what it says goes into the draft and nothing is saved."""
        if request.method == "POST" and "_draft" in request.POST:
            needs_taxonomist(request)
            if self._drafted(request, object_id):
                return redirect("admin:diagnosis_taxonomydraft_changelist")
        return super().changeform_view(request, object_id, form_url, extra_context)

    def _drafted(self, request: HttpRequest, object_id: str | None) -> bool:
        """Whether it is in the draft; the form, shown again, tells why where it is not."""
        known = self.get_object(request, unquote(object_id)) if object_id else None
        before = type(self).as_row(known) if known is not None else None
        form = self.get_form(request, known, change=known is not None)(request.POST, instance=known)
        if not form.is_valid():
            return False
        actor = actor_of(request)
        try:
            draft = drafts.start(actor=actor, author=request.user)  # type: ignore[arg-type]
            put_site_rule(
                actor=actor,
                draft=draft,
                section=self.section,
                before=before,
                after=type(self).as_row(form.instance),
            )
        except (TaxonomyError, RecordsError) as error:
            messages.error(request, f"Not put into the draft: {error}.")
            return True
        messages.success(request, "It is in the draft. Nothing is live until you publish.")
        return True


@admin.register(SignatureOverride)
class SignatureOverrideAdmin(SiteRuleAdmin):
    """What one cluster does differently with a signature."""

    section = "overrides"
    as_row = override_row
    form = SiteRuleForm
    list_display = ("signature", "cluster", "disabled", "fault_class", "action", "priority")
    list_filter = ("cluster", "disabled")
    search_fields = ("signature__code", "reason")
    list_select_related = ("signature", "cluster")


@admin.register(IgnoreRule)
class IgnoreRuleAdmin(SiteRuleAdmin):
    """What is left out on a host or in a cluster, and until when."""

    section = "ignore_rules"
    as_row = ignore_row
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
class MaintenanceWindowAdmin(SiteRuleAdmin):
    """Hosts, jobs and clusters under maintenance."""

    section = "maintenance"
    as_row = window_row
    form = MaintenanceForm
    list_display = ("__str__", "cluster", "job", "starts_at", "ends_at", "reason")
    list_filter = ("cluster", "starts_at")
    search_fields = ("hosts", "job", "reason")
    list_select_related = ("cluster",)
