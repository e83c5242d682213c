"""What the pictures of a diagnosis are drawn from."""

from typing import ClassVar

from django.db import models

from incidents.models import Diagnosis
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class ProgressPicture(models.Model):
    """What the collective-progress picture of one diagnosis is drawn from."""

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    diagnosis = models.OneToOneField(
        Diagnosis, on_delete=models.CASCADE, related_name="+", primary_key=True
    )
    data = models.JSONField()

    objects: ClassVar[models.Manager["ProgressPicture"]] = ReachedManager.of_incident(
        "diagnosis__incident"
    )

    class Meta:
        ordering = ["-diagnosis"]

    def __str__(self) -> str:
        return f"Collective progress of {self.diagnosis}"


class MetricPicture(models.Model):
    """What the pictures of a slowdown are drawn from: suspects against their peers, iterations."""

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    diagnosis = models.OneToOneField(
        Diagnosis, on_delete=models.CASCADE, related_name="+", primary_key=True
    )
    data = models.JSONField()

    objects: ClassVar[models.Manager["MetricPicture"]] = ReachedManager.of_incident(
        "diagnosis__incident"
    )

    class Meta:
        ordering = ["-diagnosis"]

    def __str__(self) -> str:
        return f"Metrics of {self.diagnosis}"
