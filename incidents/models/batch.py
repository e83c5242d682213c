"""What someone did to incidents in one go, with what is needed to take it back."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from incidents import reach
from incidents.choices import BatchStep
from incidents.models.constraints import one_of
from incidents.models.incident import Incident
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class BatchManager(models.Manager["Batch"]):
    """Batches that changed nothing but incidents within reach."""

    def get_queryset(self) -> models.QuerySet["Batch"]:
        rows = super().get_queryset()
        if not reach.current().is_limited:
            return rows
        reached = BatchItem.objects.values("pk")
        beyond = BatchItem._base_manager.exclude(pk__in=reached)
        return rows.exclude(pk__in=beyond.values("batch"))


class Batch(models.Model):
    """One step on one or several incidents; `undone_at` is when it was taken back."""

    edited_by: ClassVar[Capability] = Capability.RESPOND

    step = models.CharField(max_length=16, choices=BatchStep.choices)
    actor = models.CharField(max_length=200)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="batches",
    )
    made_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.CharField(max_length=200, blank=True)

    objects: ClassVar[BatchManager] = BatchManager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "batches"
        constraints = [one_of("step", BatchStep, name="batch_step_known")]

    def __str__(self) -> str:
        return f"{self.get_step_display()} by {self.actor}"


class BatchItem(models.Model):
    """One incident of a batch: its fields `before`, and the `version` that the step made."""

    edited_by: ClassVar[Capability] = Capability.RESPOND

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="items")
    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="batch_items")
    before = models.JSONField()
    version = models.PositiveIntegerField()

    objects: ClassVar[models.Manager["BatchItem"]] = ReachedManager.of_incident("incident")

    class Meta:
        ordering = ["batch", "id"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "incident"], name="batch_item_once")
        ]

    def __str__(self) -> str:
        return f"{self.batch}: INC-{self.incident_id}"
