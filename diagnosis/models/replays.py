"""Replays: what a draft would have changed in the diagnoses of the last days."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from diagnosis.models.drafts import TaxonomyDraft
from diagnosis.models.knowledge import TaxonomyVersion, no_rows
from incidents.models import Incident
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class ReplayState(models.TextChoices):
    """Where a replay stands; no state is final but the last three."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class Replay(models.Model):
    """One run of a draft's changes over the stored evidence of incidents.

    Incidents are taken from the newest back; `position` is the key of the last one that was
    judged. A worker holds the row under a lease for one slice of the work at a time, so that
    diagnoses never wait for long. `base` are the rules before, `changes` and `site_changes` those
    of the draft when the replay was asked for. `attempts` counts the workers that were lost at
    one incident.
    """

    edited_by: ClassVar[Capability] = Capability.EDIT_TAXONOMY
    read_by: ClassVar[Capability] = Capability.EDIT_TAXONOMY

    draft = models.ForeignKey(TaxonomyDraft, on_delete=models.CASCADE, related_name="replays")
    draft_revision = models.PositiveIntegerField()
    base = models.ForeignKey(TaxonomyVersion, on_delete=models.PROTECT, related_name="+")
    changes = models.JSONField()
    site_changes = models.JSONField(default=list, db_default=no_rows)
    days = models.PositiveIntegerField()
    since = models.DateTimeField()
    requested_by = models.CharField(max_length=200)

    state = models.CharField(max_length=16, choices=ReplayState.choices, default=ReplayState.QUEUED)
    queued_at = models.DateTimeField(default=timezone.now)
    announced_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField("workers lost at one incident", default=0)
    error = models.TextField(blank=True)

    total = models.PositiveIntegerField("incidents to judge", default=0)
    judged = models.PositiveIntegerField("incidents judged", default=0)
    position = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "lease_expires_at"], name="replay_sweep")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=ReplayState.values), name="replay_state_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(state=ReplayState.RUNNING)
                | models.Q(lease_expires_at__isnull=False) & ~models.Q(lease_owner=""),
                name="replay_running_under_lease",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=ReplayState.FAILED) | ~models.Q(error=""),
                name="replay_failed_with_error",
            ),
        ]

    def __str__(self) -> str:
        return f"Replay {self.pk} over {self.days} days"

    @property
    def is_over(self) -> bool:
        return self.state in {ReplayState.DONE, ReplayState.FAILED, ReplayState.CANCELLED}

    @property
    def is_of_today(self) -> bool:
        """Whether it judged what the draft holds now."""
        return self.draft_revision == self.draft.revision


class ReplayDifference(models.Model):
    """One incident whose answer the draft changes, or that could not be judged (`error`).

    `before` and `after` are outlines of the two answers. `alarm`: hosts of an incident that is no
    fault of theirs (healthy, the user's, a false alarm by a person's word) would be isolated.
    """

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    replay = models.ForeignKey(Replay, on_delete=models.CASCADE, related_name="differences")
    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="+")
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    changed = models.JSONField(default=list)
    alarm = models.CharField(max_length=300, blank=True)
    newly_isolated = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    objects: ClassVar[models.Manager["ReplayDifference"]] = ReachedManager.of_incident("incident")

    class Meta:
        ordering = ["-incident"]
        constraints = [
            models.UniqueConstraint(fields=["replay", "incident"], name="difference_once")
        ]

    def __str__(self) -> str:
        return f"INC-{self.incident_id} in replay {self.replay_id}"
