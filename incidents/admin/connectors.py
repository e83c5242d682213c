"""Ticket systems in the admin site: set up beside a button that tries them."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from incidents import models, selectors, ticket_text
from incidents.admin.base import actor_of
from incidents.choices import SubscriptionState
from incidents.delivery.address import sendable_url
from incidents.exceptions import RecordsError
from incidents.services import connectors
from incidents.services.webhooks import clean_patterns
from incidents.ticket_kinds import KINDS, TOLD, checked_options

_FIELDS = ("name", "kind", "url", "account", "new_secret", "cluster", "state", "options")
#: What the form calls otherwise than the record: a secret goes in, and is not edited.
_NAMES = {"new_secret": "secret"}
_TEXTS = ("title_template", "text_template", "events")


class ConnectorForm(forms.ModelForm["models.TicketConnector"]):
    """A ticket system as an operator sets it up. The secret goes in and never comes out."""

    new_secret = forms.CharField(
        label="Secret",
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="API token or password. It is kept sealed and never shown; empty keeps it.",
    )
    events = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        initial="\n".join(TOLD),
        help_text="What its tickets are told: one event or pattern a line, empty for every event.",
    )

    class Meta:
        model = models.TicketConnector
        fields = (*_FIELDS[:4], *_FIELDS[5:], *_TEXTS[:2])

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["events"] = "\n".join(self.instance.events)

    def clean_url(self) -> str:
        given, allowed = self.cleaned_data["url"], settings.WEBHOOK_NETWORKS
        return str(_accepted(sendable_url, given, allowed=allowed))

    def clean_events(self) -> list[str]:
        return list(_accepted(clean_patterns, self.cleaned_data["events"].split()))

    def clean_title_template(self) -> str:
        given = self.cleaned_data["title_template"]
        return str(_accepted(ticket_text.check, given, field="title_template"))

    def clean_text_template(self) -> str:
        given = self.cleaned_data["text_template"]
        return str(_accepted(ticket_text.check, given, field="text_template"))

    def clean_state(self) -> str:
        if self.cleaned_data["state"] == SubscriptionState.DISABLED:
            raise forms.ValidationError("A ticket system is made active or paused.")
        return str(self.cleaned_data["state"])

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        kind = given.get("kind") or self.instance.kind
        if kind in KINDS and "options" in given:
            try:
                checked_options(kind, given["options"] or {})
            except RecordsError as error:
                self.add_error("options", str(error))
        if not self.instance.pk and not given.get("new_secret"):
            self.add_error("new_secret", "Give the account's API token or password.")
        return given


@admin.register(models.TicketConnector)
class ConnectorAdmin(admin.ModelAdmin["models.TicketConnector"]):
    """Ticket systems; each page has a button that tries the system."""

    form = ConnectorForm
    change_form_template = "admin/incidents/ticketconnector/change_form.html"
    list_display = ("name", "kind", "url", "state", "waiting", "failing_since", "asking_failed")
    list_filter = ("state", "kind")
    readonly_fields = ("deliveries_of", "failing_since", "retry_at", "asked_at", "asking_failed")
    fieldsets = (
        (None, {"fields": _FIELDS}),
        (
            "What tickets say",
            {
                "fields": _TEXTS,
                "description": (
                    "Templates may name: "
                    + ", ".join(f"{{{name}}}" for name in ticket_text.NAMES)
                    + ". Empty: the text that comes with Aegis."
                ),
            },
        ),
        ("How it goes", {"fields": readonly_fields}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return selectors.connectors()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*self.readonly_fields, "kind") if obj else self.readonly_fields

    @admin.display(ordering="waiting_count")
    def waiting(self, connector: Any) -> int:
        return int(connector.waiting_count)

    @admin.display(description="messages")
    def deliveries_of(self, connector: models.TicketConnector) -> SafeString | str:
        if not connector.pk:
            return "None yet."
        return format_html('<a href="{}">What was sent, with each answer</a>', _log_of(connector))

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        named = form.changed_data if change else list(form.cleaned_data)
        given = {_NAMES.get(name, name): form.cleaned_data[name] for name in named}
        kind = given.pop("kind", obj.kind)
        if "options" in given:
            given["options"] = given["options"] or {}
        if not change:
            made = connectors.add_connector(actor=actor_of(request), kind=kind, fields=given)
            obj.__dict__.update(made.__dict__)
        elif given:
            found = models.TicketConnector.objects.get(pk=obj.pk)
            connectors.change_connector(actor=actor_of(request), connector=found, fields=given)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """Saving with the test button asks the system, and leads to its answer."""
        if "_test" not in request.POST:
            return super().response_change(request, obj)
        delivery = connectors.test_connector(actor=actor_of(request), connector=obj)
        messages.success(request, "Asked. Its answer is here within seconds: reload.")
        return HttpResponseRedirect(
            reverse("admin:incidents_webhookdelivery_change", args=[delivery.pk])
        )

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        connectors.remove_connector(actor=actor_of(request), connector=obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for connector in queryset:
            connectors.remove_connector(actor=actor_of(request), connector=connector)


def _accepted(check: Any, *given: Any, **more: Any) -> Any:
    """What a check of the services says, its refusal as one of the form."""
    try:
        return check(*given, **more)
    except RecordsError as error:
        raise forms.ValidationError(str(error)) from error


def _log_of(connector: models.TicketConnector) -> str:
    log = reverse("admin:incidents_webhookdelivery_changelist")
    return f"{log}?subscription__id__exact={connector.pk}"
