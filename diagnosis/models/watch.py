"""The watch: what is known of each running attempt, and when it was looked at."""

from enum import StrEnum
from typing import ClassVar

from django.db import models
from django.utils import timezone

from diagnosis.models.words import choices, one_of
from incidents.models import Attempt, Incident
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class WatchVerdict(StrEnum):
    """What the watch last made of a job."""

    NOT_JUDGED = "not judged yet"
    HEALTHY = "healthy"
    SLOW = "slow"
    HUNG = "hung"
    CANNOT_TELL = "cannot tell"
    ENDED = "ended"


class LiveState(models.Model):
    """The latest progress report of every rank of an attempt, packed: a row a job, none a rank.

    `state` is a packed `diagnosis.core.live_progress.LiveProgress`.
    """

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    attempt = models.OneToOneField(
        Attempt, on_delete=models.CASCADE, related_name="+", primary_key=True
    )
    state = models.BinaryField()
    ranks = models.PositiveIntegerField()
    reported_at = models.DateTimeField("time of the latest report")
    received_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["LiveState"]] = ReachedManager.by(
        "attempt__job__cluster__name", "attempt__job__owner"
    )

    class Meta:
        ordering = ["-attempt"]

    def __str__(self) -> str:
        return f"Progress of {self.attempt}"


class JobWatch(models.Model):
    """One running attempt under watch: when it is due, who looks at it, what was seen.

    A worker takes a due row by one conditional UPDATE and holds it under a lease; `announced_at`
    is when a worker was last called for it. `seen_until` is the time of the newest sample that a
    judgement rests on. `state` is what the detectors keep between two looks, packed; `cause` says
    what `incident` was opened for, and stays until that has passed.
    """

    edited_by: ClassVar[Capability] = Capability.OPERATE

    attempt = models.OneToOneField(
        Attempt, on_delete=models.CASCADE, related_name="+", primary_key=True
    )
    active = models.BooleanField(default=True)
    next_due_at = models.DateTimeField()
    announced_at = models.DateTimeField(null=True, blank=True)
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)

    judged_at = models.DateTimeField(null=True, blank=True)
    judgements = models.PositiveIntegerField(default=0)
    verdict = models.CharField(
        max_length=16, choices=choices(WatchVerdict), default=WatchVerdict.NOT_JUDGED
    )
    summary = models.TextField(blank=True)
    phase = models.CharField(max_length=16, blank=True)
    coverage = models.JSONField(default=dict, blank=True)
    seen_until = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)
    error_since = models.DateTimeField(null=True, blank=True)
    state = models.BinaryField(null=True, blank=True)
    incident = models.ForeignKey(
        Incident, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    cause = models.JSONField(default=dict, blank=True)

    objects: ClassVar[models.Manager["JobWatch"]] = ReachedManager.by(
        "attempt__job__cluster__name", "attempt__job__owner"
    )

    class Meta:
        ordering = ["attempt"]
        verbose_name_plural = "job watches"
        indexes = [models.Index(fields=["active", "next_due_at"], name="watch_due")]
        constraints = [one_of("verdict", WatchVerdict, "watch_verdict_known")]

    def __str__(self) -> str:
        return f"Watch of {self.attempt}"
