"""Answers that are kept so that a request sent twice acts once."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from incidents.roles import Capability


class IdempotencyKey(models.Model):
    """One key of one actor: in flight while `status` is empty, afterwards the answer.

    `claim` is the request that holds the key; `fingerprint` a hash of what was asked, empty until
    a streamed body has been read.
    """

    edited_by: ClassVar[Capability] = Capability.ADMINISTER
    read_by: ClassVar[Capability] = Capability.ADMINISTER

    actor = models.CharField(max_length=100)
    key = models.CharField(max_length=255)
    claim = models.CharField(max_length=32)
    fingerprint = models.CharField(max_length=64, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    body = models.JSONField(null=True, blank=True)
    headers = models.JSONField(default=dict, blank=True)
    claimed_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["actor", "key"], name="idempotency_key_once")
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.key}"
