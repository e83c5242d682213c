"""Jobs, their attempts, and which rank of an attempt ran where."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from incidents.choices import JobState
from incidents.models.constraints import one_of, ordered
from incidents.models.managers import ReachedManager
from incidents.models.topology import Cluster, Host
from incidents.roles import Capability


class Job(models.Model):
    """A training job, known to its scheduler by `external_id`."""

    edited_by: ClassVar[Capability] = Capability.REGISTER_JOBS

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="jobs")
    external_id = models.CharField(max_length=200)
    source = models.CharField(max_length=50, blank=True, help_text="slurm, kubernetes, …")
    name = models.CharField(max_length=200, blank=True)
    owner = models.CharField(max_length=200, blank=True)
    framework = models.CharField(max_length=100, blank=True)
    state = models.CharField(max_length=16, choices=JobState.choices, default=JobState.RUNNING)
    tp_size = models.PositiveIntegerField("tensor parallel size", null=True, blank=True)
    pp_size = models.PositiveIntegerField("pipeline parallel size", null=True, blank=True)
    dp_size = models.PositiveIntegerField("data parallel size", null=True, blank=True)
    ep_size = models.PositiveIntegerField("expert parallel size", null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[models.Manager["Job"]] = ReachedManager.by("cluster__name", "owner")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "source", "external_id"], name="job_once_per_scheduler"
            ),
            models.CheckConstraint(condition=~models.Q(external_id=""), name="job_identified"),
            one_of("state", JobState, name="job_state_known"),
        ]

    def __str__(self) -> str:
        return self.name or self.external_id


class Attempt(models.Model):
    """One run of a job, from a start or restart to its end."""

    edited_by: ClassVar[Capability] = Capability.REGISTER_JOBS

    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveIntegerField()
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=16, choices=JobState.choices, default=JobState.RUNNING)
    hosts = models.ManyToManyField(
        Host, through="RankPlacement", related_name="attempts", editable=False
    )

    objects: ClassVar[models.Manager["Attempt"]] = ReachedManager.by(
        "job__cluster__name", "job__owner"
    )

    class Meta:
        ordering = ["job", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="attempt_numbered_once"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="attempt_from_one"),
            ordered("started_at", "ended_at", name="attempt_ends_after_start"),
            one_of("outcome", JobState, name="attempt_outcome_known"),
        ]

    def __str__(self) -> str:
        return f"{self.job}, attempt {self.number}"


class RankPlacement(models.Model):
    """One rank's place in one attempt: host, local rank, GPU, and position in the layout."""

    edited_by: ClassVar[Capability] = Capability.REGISTER_JOBS

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="placements")
    rank = models.PositiveIntegerField()
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="placements")
    local_rank = models.PositiveIntegerField(null=True, blank=True)
    gpu = models.CharField("GPU index or id", max_length=100, blank=True)
    gpu_uuid = models.CharField("GPU UUID", max_length=100, blank=True)
    nic = models.CharField("NIC", max_length=100, blank=True)
    stage = models.PositiveIntegerField(null=True, blank=True)
    dp = models.PositiveIntegerField(null=True, blank=True)
    tp = models.PositiveIntegerField(null=True, blank=True)
    ep = models.PositiveIntegerField(null=True, blank=True)

    objects: ClassVar[models.Manager["RankPlacement"]] = ReachedManager.by(
        "attempt__job__cluster__name", "attempt__job__owner"
    )

    class Meta:
        ordering = ["attempt", "rank"]
        constraints = [models.UniqueConstraint(fields=["attempt", "rank"], name="rank_placed_once")]

    def __str__(self) -> str:
        return f"rank {self.rank} on {self.host}"
