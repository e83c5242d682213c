"""Commands that an executor ran to carry a decision out."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from incidents.choices import ExecutionState
from incidents.models.constraints import one_of
from incidents.models.decision import Decision
from incidents.models.diagnosis import Recommendation
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class Execution(models.Model):
    """The one command of a recommendation: planned first, which runs nothing, then run once.

    `argv` is exactly what runs; no shell reads it. Another decision makes another plan, with an id
    of its own, so that what someone saw is what they start.
    """

    edited_by: ClassVar[Capability] = Capability.EXECUTE

    recommendation = models.OneToOneField(
        Recommendation, on_delete=models.PROTECT, related_name="execution"
    )
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="executions")
    scheduler = models.CharField(max_length=16)
    host = models.CharField(max_length=255)
    argv = models.JSONField()
    state = models.CharField(
        max_length=16, choices=ExecutionState.choices, default=ExecutionState.PLANNED
    )
    planned_by = models.CharField(max_length=200)
    planned_at = models.DateTimeField(default=timezone.now)
    asked_by = models.CharField(max_length=200, blank=True)
    user_id = models.BigIntegerField(null=True, blank=True)
    source = models.CharField(max_length=16, blank=True)
    asked_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    output = models.TextField(blank=True)
    reason = models.TextField(blank=True)

    objects: ClassVar[models.Manager["Execution"]] = ReachedManager.of_incident(
        "recommendation__diagnosis__incident"
    )

    class Meta:
        ordering = ["-id"]
        constraints = [one_of("state", ExecutionState, name="execution_state_known")]

    def __str__(self) -> str:
        return " ".join(self.argv)
