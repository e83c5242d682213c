"""The metric definitions as they were after each change."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from incidents.roles import Capability


class MetricVersion(models.Model):
    """All metric definitions after one change; `version` is what the watch's diagnoses record.

    Several rows may share a version: how a source is asked changes no verdict. `changed` names the
    metrics that differ from the version before.
    """

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    version = models.CharField(max_length=64, db_index=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    who = models.CharField(max_length=200)
    why = models.CharField(max_length=500)
    changed = models.JSONField(default=list)
    rows = models.JSONField()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.version} ({self.created_at:%Y-%m-%d %H:%M})"
