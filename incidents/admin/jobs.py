"""Clusters, hosts and jobs in the admin site."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from incidents import models, selectors
from incidents.admin.base import ReadOnly, Recorded


@admin.register(models.Cluster)
class ClusterAdmin(Recorded):
    """Clusters can be added and renamed."""

    list_display = ("name", "created_at")
    search_fields = ("name",)


@admin.register(models.Host)
class HostAdmin(Recorded):
    """Hosts: where they stand, and their place in the topology."""

    list_display = ("name", "cluster", "state", "pod", "tor")
    list_filter = ("state", "cluster")
    search_fields = ("normalised_name", "pod", "tor")

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Host]:
        return selectors.hosts()


@admin.register(models.Job)
class JobAdmin(Recorded):
    """Jobs: names and owners can be put right."""

    list_display = ("external_id", "name", "owner", "cluster", "source", "state")
    list_filter = ("state", "cluster", "source")
    search_fields = ("external_id", "name", "owner")

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Job]:
        return selectors.jobs()


@admin.register(models.Attempt)
class AttemptAdmin(ReadOnly):
    """Attempts, as schedulers and scripts reported them."""

    list_display = ("job", "number", "outcome", "started_at", "ended_at")
    list_filter = ("outcome",)
    search_fields = ("job__external_id", "job__name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Attempt]:
        return selectors.attempts()
