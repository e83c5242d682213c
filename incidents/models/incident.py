"""The incident: what people open, act on and close."""

from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from incidents.choices import (
    DiagnosisState,
    IncidentKind,
    IncidentStatus,
    Resolution,
    Severity,
    VerdictClass,
)
from incidents.models.constraints import one_of, share
from incidents.models.job import Attempt, Job
from incidents.models.managers import ReachedManager
from incidents.models.topology import Cluster, Host
from incidents.roles import Capability

#: How the dedup key of a host that a delivery check holds begins.
HOLD_KEY = "check:"


class Incident(models.Model):
    """Something that went wrong with a job or hosts.

    `version` counts the changes that people make, so that the second of two is told. The fields
    from `verdict_class` on repeat the newest finished diagnosis for the desk; `suspect_host` is
    normalised, `fingerprint` is what the first suspect's first finding says without its numbers.
    """

    edited_by: ClassVar[Capability] = Capability.RESPOND

    title = models.CharField(max_length=300)
    kind = models.CharField(max_length=16, choices=IncidentKind.choices, default=IncidentKind.NONE)
    severity = models.CharField(max_length=16, choices=Severity.choices, default=Severity.MEDIUM)
    status = models.CharField(
        max_length=16, choices=IncidentStatus.choices, default=IncidentStatus.TRIGGERED
    )
    resolution = models.CharField(max_length=16, choices=Resolution.choices, blank=True)
    resolution_note = models.TextField(blank=True)
    source = models.CharField(max_length=50, blank=True)
    dedup_key = models.CharField(max_length=255, blank=True)
    version = models.PositiveIntegerField(default=1, editable=False)

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="incidents")
    job = models.ForeignKey(
        Job, null=True, blank=True, on_delete=models.PROTECT, related_name="incidents"
    )
    attempt = models.ForeignKey(
        Attempt, null=True, blank=True, on_delete=models.PROTECT, related_name="incidents"
    )
    hosts = models.ManyToManyField(Host, blank=True, related_name="incidents")
    gpu_count = models.PositiveIntegerField("GPUs that stand idle", default=0)
    gpus_freed_at = models.DateTimeField(
        "when its attempt ended or a later one began", null=True, blank=True
    )
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="assigned_incidents",
    )
    merged_into = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="merged"
    )
    split_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="split_off"
    )
    snoozed_until = models.DateTimeField(null=True, blank=True)
    snoozed_for_news = models.BooleanField("snoozed until something new arrives", default=False)

    onset_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(default=timezone.now)
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    mitigated_at = models.DateTimeField(null=True, blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    verdict_class = models.CharField(max_length=16, choices=VerdictClass.choices, blank=True)
    verdict_summary = models.TextField(blank=True)
    confidence = models.FloatField(null=True, blank=True)
    suspect_name = models.CharField(max_length=300, blank=True)
    suspect_score = models.FloatField(null=True, blank=True)
    suspect_fault = models.CharField(max_length=100, blank=True)
    suspect_host = models.CharField(max_length=255, blank=True)
    fingerprint = models.CharField(max_length=16, blank=True)
    diagnosis_state = models.CharField(max_length=16, choices=DiagnosisState.choices, blank=True)

    objects: ClassVar[models.Manager["Incident"]] = ReachedManager.by("cluster__name", "job__owner")

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["status", "-opened_at"], name="incident_desk"),
            models.Index(fields=["-opened_at"], name="incident_by_time"),
            models.Index(fields=["updated_at"], name="incident_by_change"),
            models.Index(fields=["snoozed_until"], name="incident_by_waking"),
            models.Index(fields=["suspect_fault", "-id"], name="incident_by_fault"),
            models.Index(fields=["suspect_host", "-id"], name="incident_by_host"),
            models.Index(fields=["fingerprint", "-id"], name="incident_by_fingerprint"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["dedup_key"],
                condition=~models.Q(status=IncidentStatus.RESOLVED) & ~models.Q(dedup_key=""),
                name="incident_key_open_once",
            ),
            models.CheckConstraint(
                condition=models.Q(status=IncidentStatus.RESOLVED, resolved_at__isnull=False)
                & ~models.Q(resolution="")
                | ~models.Q(status=IncidentStatus.RESOLVED)
                & models.Q(resolved_at__isnull=True, resolution=""),
                name="incident_resolved_with_resolution",
            ),
            models.CheckConstraint(
                condition=models.Q(merged_into__isnull=True)
                | ~models.Q(merged_into=models.F("id")),
                name="incident_not_merged_into_itself",
            ),
            one_of("kind", IncidentKind, name="incident_kind_known"),
            one_of("severity", Severity, name="incident_severity_known"),
            one_of("status", IncidentStatus, name="incident_status_known"),
            one_of("resolution", Resolution, name="incident_resolution_known", blank=True),
            one_of("verdict_class", VerdictClass, name="incident_class_known", blank=True),
            one_of("diagnosis_state", DiagnosisState, name="incident_run_known", blank=True),
            share("confidence", name="incident_confidence_share", null=True),
            share("suspect_score", name="incident_score_share", null=True),
        ]

    def __str__(self) -> str:
        return f"{self.reference} {self.title}"

    @property
    def reference(self) -> str:
        """The public number that people write in tickets."""
        return f"INC-{self.pk}"

    @property
    def is_open(self) -> bool:
        return self.status != IncidentStatus.RESOLVED

    @property
    def is_snoozed(self) -> bool:
        """Whether nobody wants to see it for now."""
        if not self.is_open:
            return False
        return self.snoozed_for_news or (
            self.snoozed_until is not None and self.snoozed_until > timezone.now()
        )

    @property
    def began_at(self) -> datetime:
        """When it began, as far as is known."""
        return self.onset_at or self.opened_at

    @property
    def idle_until(self) -> datetime | None:
        """When its GPUs stopped to stand idle for it; None while they do."""
        ends = (self.mitigated_at, self.resolved_at, self.gpus_freed_at)
        return min((end for end in ends if end is not None), default=None)

    @property
    def burns(self) -> bool:
        """Whether GPUs stand idle for it at this moment."""
        return self.gpu_count > 0 and self.idle_until is None

    @property
    def is_hold(self) -> bool:
        """Whether a delivery check opened it, which holds its host back by itself."""
        return self.kind == IncidentKind.CHECK and self.dedup_key.startswith(HOLD_KEY)

    @property
    def loss_is_unknown(self) -> bool:
        """Whether its job is slow and no answer tells how much of the work is lost."""
        slow = self.kind == IncidentKind.DEGRADATION
        return slow and self.attempt_id is not None and not self.gpu_count

    @property
    def gpu_hours_lost(self) -> float:
        """GPUs times hours from the beginning until they stopped to stand idle, or now."""
        until = self.idle_until or timezone.now()
        return self.gpu_count * max((until - self.began_at).total_seconds(), 0.0) / 3600
