"""What other systems report: inboxes, their messages as they came, and the alerts in them."""

from typing import ClassVar

from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from incidents.choices import InboxKind, MessageState
from incidents.models.constraints import one_of
from incidents.models.incident import Incident
from incidents.models.managers import ReachedManager
from incidents.models.topology import Cluster
from incidents.roles import Capability


class Inbox(models.Model):
    """A door for alerts: `/api/v1/inbox/<name>`. An empty mapping is the one of its kind.

    One worker at a time takes messages in, in their order, under a lease.
    """

    edited_by: ClassVar[Capability] = Capability.OPERATE

    name = models.CharField(
        max_length=50,
        unique=True,
        validators=[RegexValidator(r"^[a-z0-9][a-z0-9-]*\Z", "Small letters, digits, hyphens.")],
        help_text="The last part of its address.",
    )
    kind = models.CharField(max_length=16, choices=InboxKind.choices, default=InboxKind.GENERIC)
    cluster = models.ForeignKey(
        Cluster,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Of alerts that name none.",
    )
    mapping = models.JSONField(
        default=dict, blank=True, help_text="JMESPath by field; empty: the kind's own."
    )
    sample = models.JSONField(
        null=True, blank=True, help_text="A message to try the mapping on; nothing comes of it."
    )
    enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1, editable=False)
    lease_owner = models.CharField(max_length=200, blank=True, editable=False)
    lease_expires_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[models.Manager["Inbox"]] = ReachedManager.by("cluster__name")

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "inboxes"
        constraints = [one_of("kind", InboxKind, name="inbox_kind_known")]

    def __str__(self) -> str:
        return self.name


class InboxMessage(models.Model):
    """A message as it came. It is answered once it is stored, and taken in afterwards."""

    edited_by: ClassVar[Capability] = Capability.OPERATE
    read_by: ClassVar[Capability] = Capability.OPERATE

    inbox = models.ForeignKey(Inbox, on_delete=models.CASCADE, related_name="messages")
    body = models.JSONField()
    actor = models.CharField(max_length=200)
    user_id = models.BigIntegerField(null=True, blank=True)
    received_at = models.DateTimeField(default=timezone.now, db_index=True)
    state = models.CharField(
        max_length=16, choices=MessageState.choices, default=MessageState.WAITING
    )
    attempts = models.PositiveIntegerField(default=0)
    alert_count = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    objects: ClassVar[models.Manager["InboxMessage"]] = ReachedManager.by("inbox__cluster__name")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["inbox", "state", "id"], name="inbox_queue")]
        constraints = [one_of("state", MessageState, name="message_state_known")]

    def __str__(self) -> str:
        return f"message {self.pk} to {self.inbox}"


class Alert(models.Model):
    """One condition that another system reported, and the incident that it belongs to.

    `opened` says that the incident was opened by it.
    """

    edited_by: ClassVar[Capability] = Capability.RESPOND

    inbox = models.ForeignKey(Inbox, on_delete=models.CASCADE, related_name="alerts")
    key = models.CharField(max_length=500)
    title = models.CharField(max_length=300)
    incident = models.ForeignKey(
        Incident, null=True, blank=True, on_delete=models.PROTECT, related_name="alerts"
    )
    opened = models.BooleanField(default=False)
    started_at = models.DateTimeField(null=True, blank=True)
    first_seen_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["Alert"]] = ReachedManager.of_incident("incident")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["inbox", "key", "started_at"], name="alert_by_key")]
        constraints = [
            models.UniqueConstraint(
                fields=["inbox", "key"],
                condition=models.Q(ended_at__isnull=True),
                name="alert_fires_once",
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def fires(self) -> bool:
        return self.ended_at is None
