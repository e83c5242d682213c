"""Inboxes in the admin site: a mapping is edited beside a sample, and shows what it reads."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from incidents import models, selectors
from incidents.admin.base import ReadOnly, actor_of
from incidents.alert_mapping import FIELDS, check, read
from incidents.exceptions import RecordsError
from incidents.services import inbox as services

_SHOWN = ("action", "title", "severity", "kind", "hosts", "known_hosts", "job", "cluster", "key")


class InboxForm(forms.ModelForm["models.Inbox"]):
    """An inbox as an operator sets it up."""

    class Meta:
        model = models.Inbox
        fields = ("name", "kind", "cluster", "enabled", "mapping", "sample")

    def clean_mapping(self) -> dict[str, Any]:
        mapping = self.cleaned_data["mapping"] or {}
        if not isinstance(mapping, dict):
            raise forms.ValidationError("Map fields to expressions: {…}.")
        try:
            if mapping:
                check(mapping)
        except RecordsError as error:
            raise forms.ValidationError(str(error)) from error
        return mapping


@admin.register(models.Inbox)
class InboxAdmin(admin.ModelAdmin["models.Inbox"]):
    """Inboxes. Save a sample with the mapping to see what it would be read as."""

    form = InboxForm
    list_display = ("name", "kind", "cluster", "enabled", "waiting", "refused")
    readonly_fields = ("sample_reads_as", "mapping_in_use")
    fieldsets = (
        (None, {"fields": ("name", "kind", "cluster", "enabled")}),
        (
            "How its messages are read",
            {
                "fields": ("mapping", "mapping_in_use", "sample", "sample_reads_as"),
                "description": f"JMESPath by field: {', '.join(FIELDS)}.",
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return selectors.inboxes()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display
    def waiting(self, inbox: Any) -> int:
        return int(inbox.waiting_count)

    @admin.display(description="could not be read")
    def refused(self, inbox: Any) -> int:
        return int(inbox.refused_count)

    @admin.display
    def mapping_in_use(self, inbox: models.Inbox) -> SafeString:
        rows = services.mapping_of(inbox).items()
        return format_html_join("", "<div><b>{}</b>: <code>{}</code></div>", rows)

    @admin.display
    def sample_reads_as(self, inbox: models.Inbox) -> SafeString | str:
        if inbox.sample is None:
            return "Paste a message under Sample and save."
        try:
            found = read(services.mapping_of(inbox), inbox.sample)
        except RecordsError as error:
            return format_html("Cannot be read: {}", str(error))
        if not found:
            return "No alert is in it."
        rows = [
            (name, str(value)) for one in found for name in _SHOWN if (value := getattr(one, name))
        ]
        return format_html_join("", "<div><b>{}</b>: {}</div>", rows)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        fields = {name: form.cleaned_data[name] for name in InboxForm.Meta.fields}
        found = models.Inbox.objects.get(pk=obj.pk) if change else models.Inbox()
        saved = services.save_inbox(actor=actor_of(request), inbox=found, fields=fields)
        obj.__dict__.update(saved.__dict__)


@admin.register(models.InboxMessage)
class InboxMessageAdmin(ReadOnly):
    """What came in, as it came."""

    list_display = ("received_at", "inbox", "state", "alert_count", "actor", "error")
    list_filter = ("state", "inbox")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return selectors.inbox_messages()


@admin.register(models.Alert)
class AlertAdmin(ReadOnly):
    """Conditions that other systems reported, with the incidents they belong to."""

    list_display = ("title", "inbox", "incident", "started_at", "last_seen_at", "ended_at")
    list_filter = ("inbox",)
    search_fields = ("title", "key")
    list_select_related = ("inbox", "incident")
