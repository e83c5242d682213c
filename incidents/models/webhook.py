"""Whom Aegis tells what happens, what is on its way there, and how each try went."""

from datetime import datetime
from typing import ClassVar

from django.db import models
from django.utils import timezone

from incidents.choices import DeliveryState, SubscriptionState
from incidents.models.constraints import one_of
from incidents.models.event import Event
from incidents.models.managers import ReachedManager
from incidents.models.topology import Cluster
from incidents.roles import Capability


class WebhookSubscription(models.Model):
    """An endpoint that wants to hear of events, with the secret that signs what it gets.

    `events` are verbs or patterns such as `incident.*`; empty means every event. Secrets are
    sealed; the earlier one signs as well until `previous_until`. `retry_at` holds back everything
    that waits, so that deliveries stay in order; one worker sends at a time, under a lease.
    """

    edited_by: ClassVar[Capability] = Capability.OPERATE
    read_by: ClassVar[Capability] = Capability.OPERATE

    name = models.CharField(max_length=100, unique=True)
    url = models.CharField("address", max_length=500)
    events = models.JSONField(default=list, blank=True)
    cluster = models.ForeignKey(
        Cluster,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Empty: of every cluster.",
    )
    state = models.CharField(
        max_length=16, choices=SubscriptionState.choices, default=SubscriptionState.ACTIVE
    )
    state_reason = models.TextField(blank=True, editable=False)
    version = models.PositiveIntegerField(default=1, editable=False)
    created_by = models.CharField(max_length=200, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    secret = models.TextField(editable=False)
    previous_secret = models.TextField(blank=True, editable=False)
    previous_until = models.DateTimeField(null=True, blank=True, editable=False)

    failing_since = models.DateTimeField(null=True, blank=True, editable=False)
    failure_count = models.PositiveIntegerField("failures in a row", default=0, editable=False)
    retry_at = models.DateTimeField(null=True, blank=True, editable=False)
    lease_owner = models.CharField(max_length=200, blank=True, editable=False)
    lease_expires_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[models.Manager["WebhookSubscription"]] = ReachedManager.by("cluster__name")

    class Meta:
        ordering = ["name"]
        verbose_name = "webhook"
        constraints = [one_of("state", SubscriptionState, name="webhook_state_known")]

    def __str__(self) -> str:
        return self.name

    def wants(self, verb: str) -> bool:
        """Whether an event of this verb goes to this endpoint."""
        return not self.events or any(_matches(pattern, verb) for pattern in self.events)

    def signs_with_previous(self, now: datetime) -> bool:
        """Whether the earlier secret still signs beside the present one."""
        return self.previous_until is not None and now < self.previous_until


class WebhookDelivery(models.Model):
    """One message for one endpoint: written with its event, sent in order, kept as a log.

    `ticket` is the one that it is for, where the endpoint is a ticket system.
    `message_id` is the same for a message that is sent again by hand, so that a receiver which
    has it already can tell. `body` is exactly what is signed and sent.
    """

    edited_by: ClassVar[Capability] = Capability.OPERATE
    read_by: ClassVar[Capability] = Capability.OPERATE

    subscription = models.ForeignKey(
        WebhookSubscription, on_delete=models.CASCADE, related_name="deliveries"
    )
    event = models.ForeignKey(
        Event, null=True, blank=True, on_delete=models.PROTECT, related_name="deliveries"
    )
    ticket = models.ForeignKey(
        "incidents.TicketLink",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="deliveries",
    )
    verb = models.CharField(max_length=64)
    message_id = models.CharField(max_length=64, db_index=True)
    body = models.TextField()
    is_test = models.BooleanField(default=False)
    replay_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="replays"
    )
    state = models.CharField(
        max_length=16, choices=DeliveryState.choices, default=DeliveryState.WAITING
    )
    attempt_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField("why it was given up", blank=True)

    objects: ClassVar[models.Manager["WebhookDelivery"]] = ReachedManager.by(
        "subscription__cluster__name"
    )

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "webhook deliveries"
        indexes = [models.Index(fields=["subscription", "state", "id"], name="delivery_queue")]
        constraints = [
            models.UniqueConstraint(
                fields=["subscription", "event"],
                condition=models.Q(replay_of__isnull=True, ticket__isnull=True),
                name="delivery_once_per_event",
            ),
            models.UniqueConstraint(
                fields=["ticket", "event"],
                condition=models.Q(replay_of__isnull=True),
                name="delivery_once_per_ticket_and_event",
            ),
            one_of("state", DeliveryState, name="delivery_state_known"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} to {self.subscription}"


class WebhookAttempt(models.Model):
    """One try to deliver: to which address, how long, and what was answered."""

    edited_by: ClassVar[Capability] = Capability.OPERATE
    read_by: ClassVar[Capability] = Capability.OPERATE

    delivery = models.ForeignKey(WebhookDelivery, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now)
    duration_ms = models.PositiveIntegerField()
    address = models.CharField("address connected to", max_length=64, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    answer = models.TextField(blank=True)
    error = models.TextField(blank=True)

    objects: ClassVar[models.Manager["WebhookAttempt"]] = ReachedManager.by(
        "delivery__subscription__cluster__name"
    )

    class Meta:
        ordering = ["delivery", "number"]
        constraints = [
            models.UniqueConstraint(fields=["delivery", "number"], name="webhook_attempt_once")
        ]

    def __str__(self) -> str:
        return f"try {self.number}: {self.status or self.error}"


def _matches(pattern: str, verb: str) -> bool:
    stem, star, _ = pattern.partition("*")
    return verb.startswith(stem) if star else verb == pattern
