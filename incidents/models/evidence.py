"""Evidence: bytes by their hash, and what an incident calls them."""

from typing import Any, ClassVar, NoReturn

from django.db import models
from django.utils import timezone

from incidents.choices import EvidenceKind, ParseStatus, Source
from incidents.exceptions import AppendOnly
from incidents.models.constraints import one_of, ordered
from incidents.models.incident import Incident
from incidents.models.managers import ReachedManager
from incidents.roles import Capability

#: What reading a piece of evidence may fill in afterwards; nothing else of it ever changes.
READING_FIELDS = frozenset(
    {"kind", "parse_status", "parse_reason", "began_at", "ended_at", "read_host", "read_rank"}
)
#: What setting a file aside, or taking it back, writes.
ASIDE_FIELDS = frozenset({"set_aside_at", "set_aside_by", "set_aside_reason"})
_WRITABLE = READING_FIELDS | ASIDE_FIELDS


class Blob(models.Model):
    """Stored bytes, found by their SHA-256; `stored_size` is what they take on disk.

    `purged_at` is when an administrator had the bytes deleted; the record stays.
    """

    edited_by: ClassVar[Capability] = Capability.RESPOND

    sha256 = models.CharField(max_length=64, unique=True)
    size = models.PositiveBigIntegerField()
    stored_size = models.PositiveBigIntegerField()
    purged_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(sha256__regex=r"^[0-9a-f]{64}$"), name="blob_sha256_form"
            )
        ]

    def __str__(self) -> str:
        return self.sha256[:12]


class EvidenceQuerySet(models.QuerySet["Evidence"]):
    """Reads and appends, what reading fills in, and setting aside."""

    def update(self, **kwargs: Any) -> int:
        if not set(kwargs) <= _WRITABLE:
            raise AppendOnly("Evidence is kept as it was handed in.")
        return super().update(**kwargs)

    def delete(self) -> NoReturn:
        raise AppendOnly("Evidence is kept as it was handed in.")


_EvidenceManager = ReachedManager.from_queryset(EvidenceQuerySet)


class Evidence(models.Model):
    """One file handed in for an incident. Immutable, apart from what reading it tells.

    `declared_kind`, `host` and `rank` are the uploader's word, which the engine trusts; `kind`,
    `read_host` and `read_rank` are what reading found. A file that is set aside is kept, and no
    later diagnosis uses it.
    """

    edited_by: ClassVar[Capability] = Capability.RESPOND

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="evidence")
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="evidence")
    name = models.CharField(max_length=500)
    kind = models.CharField(
        max_length=32, choices=EvidenceKind.choices, default=EvidenceKind.UNKNOWN
    )
    declared_kind = models.CharField(max_length=32, choices=EvidenceKind.choices, blank=True)
    host = models.CharField(max_length=255, blank=True)
    rank = models.PositiveIntegerField(null=True, blank=True)
    read_host = models.CharField("host, as reading told", max_length=255, blank=True)
    read_rank = models.PositiveIntegerField("rank, as reading told", null=True, blank=True)
    job_label = models.CharField(max_length=200, blank=True)
    began_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    parse_status = models.CharField(
        max_length=16, choices=ParseStatus.choices, default=ParseStatus.PENDING
    )
    parse_reason = models.TextField(blank=True)
    uploaded_by = models.CharField(max_length=200)
    source = models.CharField(max_length=16, choices=Source.choices)
    uploaded_at = models.DateTimeField(default=timezone.now, editable=False)
    set_aside_at = models.DateTimeField(null=True, blank=True)
    set_aside_by = models.CharField(max_length=200, blank=True)
    set_aside_reason = models.TextField(blank=True)

    objects: ClassVar[models.Manager["Evidence"]] = _EvidenceManager.of_incident("incident")

    class Meta:
        ordering = ["incident", "name", "id"]
        verbose_name_plural = "evidence"
        constraints = [
            models.UniqueConstraint(
                fields=["incident", "blob", "name"], name="evidence_once_per_incident"
            ),
            models.CheckConstraint(condition=~models.Q(name=""), name="evidence_named"),
            models.CheckConstraint(
                condition=~models.Q(parse_status=ParseStatus.SKIPPED) | ~models.Q(parse_reason=""),
                name="evidence_skipped_with_reason",
            ),
            models.CheckConstraint(
                condition=models.Q(set_aside_at__isnull=True) | ~models.Q(set_aside_reason=""),
                name="evidence_set_aside_with_reason",
            ),
            ordered("began_at", "ended_at", name="evidence_ends_after_begin"),
            one_of("kind", EvidenceKind, name="evidence_kind_known"),
            one_of("declared_kind", EvidenceKind, name="evidence_declared_kind_known", blank=True),
            one_of("parse_status", ParseStatus, name="evidence_parse_known"),
            one_of("source", Source, name="evidence_source_known"),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Refuses changes beyond `READING_FIELDS` and `ASIDE_FIELDS`."""
        changed = kwargs.get("update_fields")
        if not self._state.adding and (changed is None or not set(changed) <= _WRITABLE):
            raise AppendOnly(f"Evidence {self.name} is kept as it was handed in.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly(f"Evidence {self.name} is kept as it was handed in.")

    @property
    def from_host(self) -> str:
        """The host it speaks for: as the uploader said, else as reading told."""
        return self.host or self.read_host

    @property
    def from_rank(self) -> int | None:
        """The rank it speaks for: as the uploader said, else as reading told."""
        return self.read_rank if self.rank is None else self.rank
