"""Drafts: changes of the rules that nothing is judged by until they are published."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from diagnosis.models.knowledge import TaxonomyVersion, no_rows
from incidents.roles import Capability


class DraftState(models.TextChoices):
    """What became of a draft."""

    OPEN = "open", "Open"
    PUBLISHED = "published", "Published"
    DISCARDED = "discarded", "Discarded"


class TaxonomyDraft(models.Model):
    """One person's change set.

    `changes` leads from a signature's code to `{"before": row, "after": row}`: the row that the
    change was made from (None for a new one) and the row as it shall be (None to remove it).
    `site_changes` are `{"section", "before", "after"}` of overrides, ignore rules and maintenance.
    `revision` counts the edits, so that the second of two windows is told.
    """

    edited_by: ClassVar[Capability] = Capability.EDIT_TAXONOMY
    read_by: ClassVar[Capability] = Capability.EDIT_TAXONOMY

    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="taxonomy_drafts"
    )
    state = models.CharField(
        max_length=16, choices=DraftState.choices, default=DraftState.OPEN, editable=False
    )
    changes = models.JSONField(default=dict, blank=True)
    site_changes = models.JSONField(default=list, blank=True, db_default=no_rows)
    revision = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    published_as = models.ForeignKey(
        TaxonomyVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-updated_at", "-id"]
        verbose_name = "draft in the workbench"
        verbose_name_plural = "taxonomy workbench"
        constraints = [
            models.UniqueConstraint(
                fields=["author"],
                condition=models.Q(state=DraftState.OPEN),
                name="draft_open_once_per_author",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=DraftState.values), name="draft_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"Draft of {self.author}"

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return not self.changes and not self.site_changes

    @property
    def size(self) -> int:
        """How many rules it changes."""
        return len(self.changes) + len(self.site_changes)

    @property
    def is_open(self) -> bool:
        return self.state == DraftState.OPEN
