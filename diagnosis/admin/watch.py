"""Metric sources and metrics to edit, and the watch over each job to look up."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from diagnosis.models import JobWatch, MetricDefinition, MetricSource, SourceState
from incidents.admin.base import ReadOnly, Recorded


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


@admin.register(MetricDefinition)
class MetricDefinitionAdmin(Recorded):
    """How each metric is judged and asked for; what people edit stays theirs."""

    list_display = ("metric", "unit", "entity", "kind", "bad", "floor", "enabled", "edited")
    list_filter = ("enabled", "kind", "entity", "edited")
    search_fields = ("metric", "implicates")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.edited = True
        super().save_model(request, obj, form, change)


@admin.register(JobWatch)
class JobWatchAdmin(ReadOnly):
    """What the watch last saw of each job, and when."""

    list_display = ("attempt", "active", "verdict", "summary", "judged_at", "next_due_at", "error")
    list_filter = ("active", "verdict")
    exclude = ("state",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[JobWatch]:
        return JobWatch.objects.select_related("attempt__job", "incident")
