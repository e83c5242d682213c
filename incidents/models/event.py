"""The timeline: append-only, nothing edits or deletes it."""

from typing import Any, ClassVar, NoReturn

from django.conf import settings
from django.db import models
from django.utils import timezone

from incidents.choices import Source
from incidents.exceptions import AppendOnly
from incidents.models.constraints import one_of
from incidents.models.incident import Incident
from incidents.models.job import Job
from incidents.models.managers import ReachedManager
from incidents.models.topology import Host
from incidents.roles import Capability

_REFUSAL = "The timeline can be added to; nothing in it is changed or removed."


class EventQuerySet(models.QuerySet["Event"]):
    """Reads and appends."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise AppendOnly(_REFUSAL)

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly(_REFUSAL)

    def delete(self) -> NoReturn:
        raise AppendOnly(_REFUSAL)


_EventManager = ReachedManager.from_queryset(EventQuerySet)


class Event(models.Model):
    """One thing that happened. `id` is the cursor of the feed; `text` is written for a person."""

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    time = models.DateTimeField(default=timezone.now, db_index=True)
    verb = models.CharField(max_length=64, help_text="such as incident.opened")
    text = models.TextField()
    actor = models.CharField(max_length=200)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="events",
    )
    source = models.CharField(max_length=16, choices=Source.choices)
    incident = models.ForeignKey(
        Incident, null=True, blank=True, on_delete=models.PROTECT, related_name="events"
    )
    job = models.ForeignKey(
        Job, null=True, blank=True, on_delete=models.PROTECT, related_name="events"
    )
    host = models.ForeignKey(
        Host, null=True, blank=True, on_delete=models.PROTECT, related_name="events"
    )
    data = models.JSONField(default=dict, blank=True)

    objects: ClassVar[models.Manager["Event"]] = _EventManager.by(
        ["incident__cluster__name", "job__cluster__name", "host__cluster__name"], "job__owner"
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=~models.Q(verb=""), name="event_has_verb"),
            one_of("source", Source, name="event_source_known"),
        ]

    def __str__(self) -> str:
        return self.text

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly(_REFUSAL)
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly(_REFUSAL)
