"""Metric sources and metrics to edit, and the watch over each job to look up."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from diagnosis.models import (
    JobWatch,
    MetricDefinition,
    MetricSource,
    MetricVersion,
    SourceState,
)
from diagnosis.services import metrics
from diagnosis.services.metric_versions import record_version
from incidents.admin.base import ReadOnly, Recorded, actor_of

#: Metrics that a row of the list of versions names.
_NAMED = 5


@admin.register(MetricSource)
class MetricSourceAdmin(Recorded):
    """Sources by name. Secrets are named here and kept in the environment."""

    list_display = ("name", "kind", "cluster", "url", "enabled", "state", "answered_at", "error")
    list_filter = ("enabled", "state", "cluster")
    list_select_related = ("cluster",)
    search_fields = ("name", "url")
    readonly_fields = ("state", "error", "permanent", "failing_since", "answered_at", "retry_at")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """What was changed may mend it: the source is asked at the next look."""
        obj.changed_at = timezone.now()
        obj.state, obj.error, obj.permanent = SourceState.NOT_ASKED, "", False
        obj.failing_since = obj.retry_at = None
        super().save_model(request, obj, form, change)


class MetricDefinitionForm(forms.ModelForm[MetricDefinition]):
    """A definition, and why it changes: every change is a version."""

    why = forms.CharField(
        max_length=500, help_text="What the next one who reads the versions should know."
    )


@admin.register(MetricDefinition)
class MetricDefinitionAdmin(Recorded):
    """How each metric is judged and asked for; what people edit stays theirs."""

    form = MetricDefinitionForm
    list_display = ("metric", "unit", "entity", "kind", "bad", "floor", "enabled", "edited")
    list_filter = ("enabled", "kind", "entity", "edited")
    search_fields = ("metric", "implicates")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.edited = True
        super().save_model(request, obj, form, change)
        record_version(
            actor=actor_of(request),
            why=form.cleaned_data["why"],
            catalogue=metrics.current().catalogue,
        )


@admin.register(MetricVersion)
class MetricVersionAdmin(ReadOnly):
    """What the metric definitions were after each change, who made it, and why."""

    list_display = ("version", "created_at", "who", "why", "changes")
    search_fields = ("version", "why", "who")

    @admin.display(description="metrics changed")
    def changes(self, version: MetricVersion) -> str:
        more = len(version.changed) - _NAMED
        named = ", ".join(version.changed[:_NAMED])
        return f"{named} and {more} more" if more > 0 else named


@admin.register(JobWatch)
class JobWatchAdmin(ReadOnly):
    """What the watch last saw of each job, and when."""

    list_display = ("attempt", "active", "verdict", "summary", "judged_at", "next_due_at", "error")
    list_filter = ("active", "verdict")
    exclude = ("state",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[JobWatch]:
        return JobWatch.objects.select_related("attempt__job", "incident")
