"""What the figures count of an incident, kept beside it so that reports need no search."""

from typing import ClassVar

from django.db import models

from incidents.choices import RuleKind
from incidents.models.constraints import one_of
from incidents.models.incident import Incident
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class Reckoning(models.Model):
    """What diagnoses and decisions of one incident add up to; derived, and made anew with them.

    `located_at` is when an answer first named a cause, `decided_at` when a person first decided.
    `right` says whether the decisions that stand bear the answer out, `confirmed` whether repair
    or the job did as well; `place` is where among the suspects the cause was, 0 for nowhere.
    """

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    incident = models.OneToOneField(
        Incident, on_delete=models.CASCADE, primary_key=True, related_name="reckoning"
    )
    fault = models.CharField("first suspect's fault", max_length=100, blank=True, db_index=True)
    located_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    right = models.BooleanField(null=True, blank=True)
    confirmed = models.BooleanField(default=False)
    place = models.PositiveSmallIntegerField(null=True, blank=True)

    objects: ClassVar[models.Manager["Reckoning"]] = ReachedManager.of_incident("incident")

    class Meta:
        ordering = ["incident"]

    def __str__(self) -> str:
        return f"What counts of {self.incident}"


class JudgedRule(models.Model):
    """One rule that spoke for a suspect that was decided on: a fault's signatures or a detector.

    A rule counts once an incident; `right` where every decision about its suspects bears it out.
    """

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="judged_rules")
    kind = models.CharField(max_length=16, choices=RuleKind.choices)
    code = models.CharField(max_length=100)
    right = models.BooleanField()
    confirmed = models.BooleanField(default=False)

    objects: ClassVar[models.Manager["JudgedRule"]] = ReachedManager.of_incident("incident")

    class Meta:
        ordering = ["incident", "kind", "code"]
        indexes = [models.Index(fields=["kind", "code", "right"], name="judged_rule")]
        constraints = [
            models.UniqueConstraint(fields=["incident", "kind", "code"], name="rule_judged_once"),
            one_of("kind", RuleKind, name="judged_rule_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.code}"
