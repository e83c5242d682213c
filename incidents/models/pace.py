"""How fast an attempt went, hour by hour: what accumulated degradation is made of."""

from typing import ClassVar

from django.db import models

from incidents.models.job import Attempt
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class PaceHour(models.Model):
    """The iterations of one attempt that were seen within one hour.

    `seconds` is the time of all of them, `excess_s` what slow ones took beyond 1.2 times the mean.
    """

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="pace_hours")
    hour = models.DateTimeField()
    iterations = models.FloatField()
    seconds = models.FloatField()
    excess_s = models.FloatField()

    objects: ClassVar[models.Manager["PaceHour"]] = ReachedManager.by(
        "attempt__job__cluster__name", "attempt__job__owner"
    )

    class Meta:
        ordering = ["attempt", "hour"]
        indexes = [models.Index(fields=["hour"], name="pace_by_hour")]
        constraints = [
            models.UniqueConstraint(fields=["attempt", "hour"], name="pace_once_an_hour")
        ]

    def __str__(self) -> str:
        return f"{self.attempt}: {self.iterations:.0f} iterations"
