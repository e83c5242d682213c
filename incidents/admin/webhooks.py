"""Webhooks in the admin site: endpoints, tests, secrets, and the delivery log."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from incidents import models, selectors
from incidents.admin.base import ReadOnly, actor_of
from incidents.choices import SubscriptionState
from incidents.delivery.address import sendable_url
from incidents.exceptions import RecordsError
from incidents.services import webhooks


class WebhookForm(forms.ModelForm["models.WebhookSubscription"]):
    """An endpoint as an operator writes it down: one event or pattern a line."""

    events = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="One a line, such as incident.opened or incident.*; empty for every event.",
    )

    class Meta:
        model = models.WebhookSubscription
        fields = ("name", "url", "events", "cluster", "state")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["events"] = "\n".join(self.instance.events)

    def clean_url(self) -> str:
        try:
            return sendable_url(self.cleaned_data["url"], allowed=settings.WEBHOOK_NETWORKS)
        except RecordsError as error:
            raise forms.ValidationError(str(error)) from error

    def clean_events(self) -> list[str]:
        try:
            return webhooks.clean_patterns(self.cleaned_data["events"].split())
        except RecordsError as error:
            raise forms.ValidationError(str(error)) from error

    def clean_state(self) -> str:
        state = str(self.cleaned_data["state"])
        if state == SubscriptionState.DISABLED and self.instance.state != state:
            raise forms.ValidationError("An endpoint is made active or paused.")
        return state


@admin.register(models.WebhookSubscription)
class WebhookAdmin(admin.ModelAdmin["models.WebhookSubscription"]):
    """Endpoints; tests, new secrets and replays are actions of the list."""

    form = WebhookForm
    list_display = ("name", "url", "state", "waiting", "failing_since", "retry_at")
    list_filter = ("state",)
    search_fields = ("name", "url")
    readonly_fields = ("state_reason", "failing_since", "retry_at", "previous_until", "created_by")
    actions = ("send_test", "rotate_secret", "replay_given_up")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return selectors.webhooks()

    @admin.display(ordering="waiting_count")
    def waiting(self, webhook: Any) -> int:
        return int(webhook.waiting_count)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Makes or changes the endpoint; a new one's secret is shown, this once."""
        given = {name: form.cleaned_data[name] for name in form.changed_data}
        if change:
            found = models.WebhookSubscription.objects.get(pk=obj.pk)
            if given:
                webhooks.change(actor=actor_of(request), subscription=found, fields=given)
            return
        wanted = {name: form.cleaned_data[name] for name in ("name", "url", "events", "cluster")}
        made = webhooks.subscribe(actor=actor_of(request), **wanted)
        obj.__dict__.update(made.subscription.__dict__)
        _show(request, made)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        webhooks.unsubscribe(actor=actor_of(request), subscription=obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for webhook in queryset:
            webhooks.unsubscribe(actor=actor_of(request), subscription=webhook)

    @admin.action(description="Send a test to selected webhooks", permissions=["change"])
    def send_test(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for webhook in queryset:
            webhooks.test(actor=actor_of(request), subscription=webhook)
        messages.success(request, "On its way; the answer will be among the deliveries.")

    @admin.action(description="Give selected webhooks a new secret", permissions=["change"])
    def rotate_secret(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for webhook in queryset:
            _show(request, webhooks.rotate(actor=actor_of(request), subscription=webhook))

    @admin.action(description="Send again what was given up", permissions=["change"])
    def replay_given_up(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        lost = selectors.deliveries().filter(state="given-up", is_test=False)
        for webhook in queryset:
            found = list(lost.filter(subscription=webhook).order_by("id")[: webhooks.MOST_REPLAYED])
            webhooks.replay(actor=actor_of(request), deliveries=found)
        messages.success(request, "On its way again.")


class AttemptInline(admin.TabularInline[Any, Any]):
    """Every try of one message."""

    model = models.WebhookAttempt
    extra = 0
    fields = readonly_fields = ("at", "duration_ms", "address", "status", "answer", "error")
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(models.WebhookDelivery)
class DeliveryAdmin(ReadOnly):
    """What was sent, with each answer."""

    list_display = ("created_at", "verb", "subscription", "state", "attempt_count", "reason")
    list_filter = ("state", "subscription", "verb")
    search_fields = ("message_id",)
    inlines = (AttemptInline,)
    actions = ("send_again",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return selectors.deliveries()

    @admin.action(description="Send selected messages again", permissions=["view"])
    def send_again(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        try:
            again = webhooks.replay(actor=actor_of(request), deliveries=list(queryset[::-1]))
        except RecordsError as error:
            messages.error(request, str(error))
            return
        messages.success(request, f"{len(again)} on their way again.")


def _show(request: HttpRequest, made: webhooks.NewSecret) -> None:
    shown = f"Copy the secret of {made.subscription} now, it is not shown again: {made.secret}"
    messages.warning(request, shown)
