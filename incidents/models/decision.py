"""Decisions about recommendations, and what came of them."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from incidents.choices import Action, DecisionKind, Outcome
from incidents.models.constraints import one_of
from incidents.models.diagnosis import Recommendation
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class Decision(models.Model):
    """What someone decided. The newest one stands; earlier ones are kept.

    One that was taken back (`undone_at`) counts as never made, but for the timeline.
    `carried_from` is the decision that this one repeats: a later run recommended the same again.
    """

    edited_by: ClassVar[Capability] = Capability.RESPOND

    recommendation = models.ForeignKey(
        Recommendation, on_delete=models.PROTECT, related_name="decisions"
    )
    kind = models.CharField(max_length=16, choices=DecisionKind.choices)
    changed_action = models.CharField(max_length=16, choices=Action.choices, blank=True)
    changed_target = models.CharField(max_length=300, blank=True)
    reason = models.TextField(blank=True)
    standing = models.BooleanField(default=True)
    actor = models.CharField(max_length=200)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="decisions",
    )
    decided_at = models.DateTimeField(default=timezone.now)
    carried_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="carried_to"
    )
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.CharField(max_length=200, blank=True)
    outcome = models.CharField(max_length=16, choices=Outcome.choices, default=Outcome.PENDING)
    outcome_note = models.TextField(blank=True)
    outcome_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["Decision"]] = ReachedManager.by(
        "recommendation__diagnosis__incident__cluster__name",
        "recommendation__diagnosis__incident__job__owner",
    )

    class Meta:
        ordering = ["recommendation", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["recommendation"],
                condition=models.Q(standing=True),
                name="decision_stands_once",
            ),
            models.CheckConstraint(
                condition=models.Q(kind=DecisionKind.ACCEPT) | ~models.Q(reason=""),
                name="decision_reasoned",
            ),
            models.CheckConstraint(
                condition=models.Q(kind=DecisionKind.CHANGE) & ~models.Q(changed_action="")
                | ~models.Q(kind=DecisionKind.CHANGE)
                & models.Q(changed_action="", changed_target=""),
                name="decision_changed_to_something",
            ),
            one_of("kind", DecisionKind, name="decision_kind_known"),
            one_of("changed_action", Action, name="decision_action_known", blank=True),
            one_of("outcome", Outcome, name="decision_outcome_known"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} by {self.actor}"
