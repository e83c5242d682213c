"""Views of the desk that people keep under a name."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from incidents.roles import Capability


class SavedView(models.Model):
    """The desk's filters as the end of an address, under a name; shared ones everybody sees."""

    edited_by: ClassVar[Capability] = Capability.RESPOND

    name = models.CharField(max_length=60)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views"
    )
    query = models.CharField(max_length=1000, blank=True)
    shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="saved_view_named_once"),
            models.CheckConstraint(condition=~models.Q(name=""), name="saved_view_named"),
        ]

    def __str__(self) -> str:
        return self.name
