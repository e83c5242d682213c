"""Incidents and what belongs to them, to look up in the admin site."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from incidents import models, selectors
from incidents.admin.base import ReadOnly


@admin.register(models.Incident)
class IncidentAdmin(ReadOnly):
    """Incidents; people act on them from the pages."""

    list_display = ("reference", "title", "kind", "severity", "status", "opened_at", "assignee")
    list_filter = ("status", "kind", "severity", "cluster")
    search_fields = ("title", "dedup_key", "suspect_name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Incident]:
        return selectors.incidents()


@admin.register(models.Evidence)
class EvidenceAdmin(ReadOnly):
    """Evidence, as it was handed in."""

    list_display = ("name", "incident", "kind", "host", "rank", "parse_status", "uploaded_at")
    list_filter = ("kind", "parse_status")
    search_fields = ("name", "host", "blob__sha256")

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Evidence]:
        return selectors.evidence()


@admin.register(models.Diagnosis)
class DiagnosisAdmin(ReadOnly):
    """Runs of the diagnosis, with how they ended."""

    list_display = ("__str__", "state", "verdict_class", "summary", "duration_s", "attempts")
    list_filter = ("state", "verdict_class", "engine_version")
    search_fields = ("summary", "taxonomy_version", "error")


@admin.register(models.Decision)
class DecisionAdmin(ReadOnly):
    """Decisions and what came of them."""

    list_display = ("recommendation", "kind", "actor", "decided_at", "standing", "outcome")
    list_filter = ("kind", "outcome", "standing")

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Decision]:
        return selectors.decisions()


@admin.register(models.Event)
class EventAdmin(ReadOnly):
    """The whole timeline."""

    list_display = ("time", "verb", "text", "actor", "source", "incident")
    list_filter = ("source", "verb")
    search_fields = ("text", "actor")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Event]:
        return selectors.events_since().order_by("-id")
