"""What the admin pages of both apps build on."""

from typing import Any, cast

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from incidents import models
from incidents.choices import Source
from incidents.roles import Actor
from incidents.services import events


def actor_of(request: HttpRequest) -> Actor:
    """Who works in the admin site; it lets nobody in who is not signed in."""
    return Actor.of_user(cast("models.User", request.user), source=Source.ADMIN)


class ReadOnly(admin.ModelAdmin[Any]):
    """Shows records and changes nothing."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class Recorded(admin.ModelAdmin[Any]):
    """Leaves an event for every change, and deletes nothing that the timeline may point to."""

    show_full_result_count = False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        kind, did = obj._meta.model_name, "changed" if change else "added"
        events.record(
            actor=actor_of(request),
            verb=f"{kind}.{did}",
            text=f"{obj._meta.verbose_name.capitalize()} {obj} {did}",
            job=obj if isinstance(obj, models.Job) else None,
            host=obj if isinstance(obj, models.Host) else None,
            data={kind: obj.pk, "fields": sorted(form.changed_data)},
        )

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
