"""Tokens by which programs use the API."""

from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from incidents.roles import Capability


class ApiToken(models.Model):
    """A token: its owner's role narrowed to `scopes`. Only a hash of the secret is kept."""

    edited_by: ClassVar[Capability] = Capability.OPERATE
    read_by: ClassVar[Capability] = Capability.OPERATE

    name = models.CharField(max_length=100)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="api_tokens"
    )
    prefix = models.CharField(max_length=16, unique=True, editable=False)
    secret_sha256 = models.CharField(max_length=64, editable=False)
    scopes = models.JSONField(default=list)
    clusters = models.JSONField(default=list, blank=True)
    owners = models.JSONField(default=list, blank=True)
    created_by = models.CharField(max_length=200, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=~models.Q(secret_sha256=""), name="token_has_secret")
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def is_usable(self, now: datetime) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and now < self.expires_at
