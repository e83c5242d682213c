"""The ticket systems in which Aegis opens tickets, and with which it keeps them in step."""

from typing import ClassVar

from django.db import models

from incidents.choices import ConnectorKind
from incidents.models.constraints import one_of
from incidents.models.managers import ReachedManager
from incidents.models.webhook import WebhookSubscription


class TicketConnector(WebhookSubscription):
    """A ticket system. It shares the outbox, the retries and the log of the webhooks.

    `url` is the system's base address, `secret` (sealed) its API token or password, `events` what
    is told to tickets that it opened. `options` depend on the kind (`incidents.ticket_kinds`); the
    two templates are filled in when a ticket is opened (`incidents.ticket_text`).
    """

    kind = models.CharField(max_length=16, choices=ConnectorKind.choices)
    account = models.CharField(
        max_length=200, blank=True, help_text="Goes with the secret; empty: the secret is a token."
    )
    options = models.JSONField(default=dict, blank=True)
    title_template = models.CharField(max_length=300, blank=True)
    text_template = models.TextField(blank=True)
    asked_at = models.DateTimeField(null=True, blank=True, editable=False)
    asking_failed = models.TextField(blank=True, editable=False)

    objects: ClassVar[models.Manager["TicketConnector"]] = ReachedManager.by("cluster__name")

    class Meta:
        verbose_name = "ticket system"
        constraints = [one_of("kind", ConnectorKind, name="connector_kind_known")]
