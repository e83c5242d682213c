"""Where an incident is known in another system."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from incidents.choices import TicketState
from incidents.models.connector import TicketConnector
from incidents.models.constraints import one_of
from incidents.models.incident import Incident
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class TicketLink(models.Model):
    """A ticket about an incident: the system's name, its key there, and where it is read.

    One that a connector opened is kept in step. `lookup` is stored before it is opened and sent
    along, so that a ticket whose opening timed out is found again instead of opened twice. `status`
    is the ticket system's own word; notes up to `last_note` were taken over.
    """

    edited_by: ClassVar[Capability] = Capability.RESPOND

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="tickets")
    system = models.CharField(max_length=50, blank=True)
    key = models.CharField(max_length=200, blank=True)
    url = models.URLField(max_length=1000, blank=True)
    linked_by = models.CharField(max_length=200)
    linked_at = models.DateTimeField(default=timezone.now, editable=False)
    connector = models.ForeignKey(
        TicketConnector, null=True, blank=True, on_delete=models.SET_NULL, related_name="tickets"
    )
    state = models.CharField(max_length=16, choices=TicketState.choices, default=TicketState.LINKED)
    lookup = models.CharField(max_length=64, null=True, blank=True, unique=True, editable=False)
    remote_id = models.CharField(max_length=200, blank=True, editable=False)
    status = models.CharField(max_length=100, blank=True)
    status_at = models.DateTimeField(null=True, blank=True)
    last_note = models.CharField(max_length=100, blank=True, editable=False)
    error = models.TextField(blank=True)

    objects: ClassVar[models.Manager["TicketLink"]] = ReachedManager.of_incident("incident")

    class Meta:
        ordering = ["incident", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["incident", "system", "key"], name="ticket_linked_once"
            ),
            models.UniqueConstraint(
                fields=["incident", "connector"], name="ticket_opened_once_a_connector"
            ),
            models.CheckConstraint(
                condition=~models.Q(key="")
                | models.Q(state__in=[TicketState.WANTED, TicketState.REFUSED]),
                name="ticket_has_key",
            ),
            one_of("state", TicketState, name="ticket_state_known"),
        ]

    def __str__(self) -> str:
        return f"{self.system} {self.key}".strip()

    @property
    def is_kept_in_step(self) -> bool:
        return self.state == TicketState.LIVE
