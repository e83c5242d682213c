"""One run of the diagnosis, and what it answered."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from incidents.choices import (
    Action,
    DiagnosisState,
    IncidentKind,
    SuspectRole,
    TargetKind,
    VerdictClass,
)
from incidents.models.constraints import one_of, share
from incidents.models.evidence import Evidence
from incidents.models.incident import Incident
from incidents.models.managers import ReachedManager
from incidents.models.target import TargetFields
from incidents.roles import Capability


class Diagnosis(models.Model):
    """A run: queued, held by one worker under a lease, then done or failed.

    `announced_at` is when a worker was last called for it; the sweeper calls again for a run that
    has waited too long.
    """

    edited_by: ClassVar[Capability] = Capability.RESPOND

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="diagnoses")
    number = models.PositiveIntegerField()
    state = models.CharField(
        max_length=16, choices=DiagnosisState.choices, default=DiagnosisState.QUEUED
    )
    evidence = models.ManyToManyField(Evidence, blank=True, related_name="diagnoses")
    requested_by = models.CharField(max_length=200)

    queued_at = models.DateTimeField(default=timezone.now)
    announced_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    duration_s = models.FloatField("duration in seconds", null=True, blank=True)
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    engine_version = models.CharField(max_length=50, blank=True)
    taxonomy_version = models.CharField(max_length=100, blank=True)
    kind = models.CharField(max_length=16, choices=IncidentKind.choices, blank=True)
    verdict_class = models.CharField(max_length=16, choices=VerdictClass.choices, blank=True)
    summary = models.TextField(blank=True)
    confidence = models.FloatField(null=True, blank=True)
    coverage = models.JSONField(default=dict, blank=True)
    trace = models.JSONField(default=list, blank=True)
    skipped = models.JSONField(default=list, blank=True)

    objects: ClassVar[models.Manager["Diagnosis"]] = ReachedManager.of_incident("incident")

    class Meta:
        ordering = ["incident", "-number"]
        verbose_name_plural = "diagnoses"
        indexes = [models.Index(fields=["state", "lease_expires_at"], name="diagnosis_sweep")]
        constraints = [
            models.UniqueConstraint(fields=["incident", "number"], name="diagnosis_numbered_once"),
            models.UniqueConstraint(
                fields=["incident"],
                condition=models.Q(state=DiagnosisState.QUEUED),
                name="diagnosis_queued_once",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=DiagnosisState.RUNNING)
                | models.Q(lease_expires_at__isnull=False) & ~models.Q(lease_owner=""),
                name="diagnosis_running_under_lease",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=DiagnosisState.DONE)
                | models.Q(finished_at__isnull=False)
                & ~models.Q(verdict_class="")
                & ~models.Q(kind=""),
                name="diagnosis_done_with_verdict",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=DiagnosisState.FAILED) | ~models.Q(error=""),
                name="diagnosis_failed_with_error",
            ),
            one_of("state", DiagnosisState, name="diagnosis_state_known"),
            one_of("kind", IncidentKind, name="diagnosis_kind_known", blank=True),
            one_of("verdict_class", VerdictClass, name="diagnosis_class_known", blank=True),
            share("confidence", name="diagnosis_confidence_share", null=True),
        ]

    def __str__(self) -> str:
        return f"INC-{self.incident_id} diagnosis {self.number}"

    @property
    def lost_workers(self) -> int:
        """How many workers were lost over it: every start but the one that ended it or goes on."""
        return self.attempts if self.state == DiagnosisState.QUEUED else max(self.attempts - 1, 0)


class Finding(TargetFields):
    """One statement derived from evidence, with the way back to where it came from.

    `time_text` is the time as the evidence gave it; `at` the instant, where the zone is known.
    `evidence_name` stays even where no stored evidence of that name was found.
    """

    edited_by: ClassVar[Capability] = Capability.RESPOND

    diagnosis = models.ForeignKey(Diagnosis, on_delete=models.CASCADE, related_name="findings")
    position = models.PositiveIntegerField()
    detector = models.CharField(max_length=100)
    text = models.TextField()
    at = models.DateTimeField(null=True, blank=True)
    time_text = models.CharField(max_length=100, blank=True)
    evidence = models.ForeignKey(
        Evidence, null=True, blank=True, on_delete=models.PROTECT, related_name="findings"
    )
    evidence_name = models.CharField(max_length=500, blank=True)
    locator = models.JSONField(null=True, blank=True)
    weight = models.FloatField(default=1.0)

    objects: ClassVar[models.Manager["Finding"]] = ReachedManager.of_incident("diagnosis__incident")

    class Meta:
        ordering = ["diagnosis", "position"]
        constraints = [
            models.UniqueConstraint(fields=["diagnosis", "position"], name="finding_placed_once"),
            one_of("target_kind", TargetKind, name="finding_target_known"),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def speaks_against(self) -> bool:
        """Whether the finding lowers suspicion of its target."""
        return self.weight < 0


class Suspect(TargetFields):
    """A target with the probability that it is the cause; `position` 1 is the first suspect."""

    edited_by: ClassVar[Capability] = Capability.RESPOND

    diagnosis = models.ForeignKey(Diagnosis, on_delete=models.CASCADE, related_name="suspects")
    position = models.PositiveIntegerField()
    score = models.FloatField()
    role = models.CharField(max_length=16, choices=SuspectRole.choices)
    fault = models.CharField("fault type's code", max_length=100, blank=True)
    findings = models.ManyToManyField(Finding, blank=True, related_name="suspects")

    objects: ClassVar[models.Manager["Suspect"]] = ReachedManager.of_incident("diagnosis__incident")

    class Meta:
        ordering = ["diagnosis", "position"]
        indexes = [
            models.Index(fields=["target_host"], name="suspect_host"),
            models.Index(fields=["fault"], name="suspect_fault"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["diagnosis", "position"], name="suspect_placed_once"),
            share("score", name="suspect_score_share"),
            one_of("role", SuspectRole, name="suspect_role_known"),
            one_of("target_kind", TargetKind, name="suspect_target_known"),
        ]

    def __str__(self) -> str:
        return f"{self.target_label} ({self.score:.2f})"


class Recommendation(TargetFields):
    """An action on a target that a person accepts, rejects or changes."""

    edited_by: ClassVar[Capability] = Capability.RESPOND

    diagnosis = models.ForeignKey(
        Diagnosis, on_delete=models.CASCADE, related_name="recommendations"
    )
    position = models.PositiveIntegerField()
    action = models.CharField(max_length=16, choices=Action.choices)
    reason = models.TextField()

    objects: ClassVar[models.Manager["Recommendation"]] = ReachedManager.of_incident(
        "diagnosis__incident"
    )

    class Meta:
        ordering = ["diagnosis", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["diagnosis", "position"], name="recommendation_placed_once"
            ),
            one_of("action", Action, name="recommendation_action_known"),
            one_of("target_kind", TargetKind, name="recommendation_target_known"),
        ]

    def __str__(self) -> str:
        named = f"{self.get_action_display()}: {self.acted_on}".removesuffix(": ")
        return f"{named} (seen on {self.seen_on})" if self.seen_on else named

    @property
    def lacks_host(self) -> bool:
        """Whether it says to isolate a host and not which: only who names one can follow it."""
        return self.action == Action.ISOLATE_HOST and not self.target_host.strip()

    @property
    def acted_on(self) -> str:
        """What someone acts on, in a few words; empty for the job, which goes without saying."""
        if self.target_kind in {TargetKind.JOB, TargetKind.NONE}:
            return ""
        if self.action == Action.ISOLATE_HOST and self.target_host:
            return self.target_host
        on_host = self.target_kind == TargetKind.CONFIG and self.target_host
        return f"{self.target_label} on {self.target_host}" if on_host else self.target_label
