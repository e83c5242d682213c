"""What other systems call an incident."""

from typing import ClassVar

from django.db import models

from incidents.models.incident import Incident
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class ExternalId(models.Model):
    """The id of an incident in another system: `source` names the system."""

    edited_by: ClassVar[Capability] = Capability.RESPOND

    source = models.CharField(max_length=50)
    external_id = models.CharField(max_length=200)
    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="external_ids")

    objects: ClassVar[models.Manager["ExternalId"]] = ReachedManager.of_incident("incident")

    class Meta:
        ordering = ["source", "external_id"]
        verbose_name = "external id"
        constraints = [
            models.UniqueConstraint(fields=["source", "external_id"], name="external_id_once")
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.external_id}"
