"""What a site does differently: overrides of one cluster, ignore rules, maintenance windows."""

from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone

from diagnosis.core.words import Action, SignatureClass
from diagnosis.models.knowledge import Signature
from diagnosis.models.words import choices
from diagnosis.taxonomy.patterns import PatternError, check_pattern
from incidents.models import Cluster
from incidents.roles import Capability


class SignatureOverride(models.Model):
    """For one cluster: a signature switched off, or with another class, action or priority."""

    edited_by: ClassVar[Capability] = Capability.EDIT_TAXONOMY

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    signature = models.ForeignKey(Signature, on_delete=models.CASCADE, related_name="overrides")
    disabled = models.BooleanField("switched off in this cluster", default=False)
    fault_class = models.CharField(
        "class instead", max_length=16, choices=choices(SignatureClass), blank=True
    )
    action = models.CharField("action instead", max_length=16, choices=choices(Action), blank=True)
    priority = models.IntegerField("priority instead", null=True, blank=True)
    reason = models.CharField(max_length=500)

    class Meta:
        ordering = ["cluster__name", "signature__code"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "signature"], name="override_once"),
            models.CheckConstraint(
                condition=models.Q(disabled=True)
                | ~models.Q(fault_class="")
                | ~models.Q(action="")
                | models.Q(priority__isnull=False),
                name="override_overrides_something",
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="override_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.signature} in {self.cluster}"

    def clean(self) -> None:
        """Refuses an override that changes nothing."""
        if not (self.disabled or self.fault_class or self.action or self.priority is not None):
            raise ValidationError("Switch it off, or give another class, action or priority.")


class IgnoreRule(models.Model):
    """Findings that are left out, on one host or in one cluster, until the rule expires.

    It counts for incidents that began before that. Where both signature and pattern are given,
    both must fit.
    """

    edited_by: ClassVar[Capability] = Capability.EDIT_TAXONOMY

    signature = models.ForeignKey(
        Signature, null=True, blank=True, on_delete=models.CASCADE, related_name="ignored"
    )
    pattern = models.TextField(
        blank=True, help_text="RE2 syntax, searched within the line that a signature matched."
    )
    cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    host = models.CharField(max_length=255, blank=True)
    reason = models.CharField(max_length=500)
    expires_at = models.DateTimeField("expires", db_index=True)

    class Meta:
        ordering = ["-expires_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(signature__isnull=False) | ~models.Q(pattern=""),
                name="ignore_rule_ignores_something",
            ),
            models.CheckConstraint(
                condition=models.Q(cluster__isnull=False) | ~models.Q(host=""),
                name="ignore_rule_is_somewhere",
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="ignore_rule_has_reason"),
        ]

    def __str__(self) -> str:
        what = self.signature or f"lines with '{self.pattern}'"
        return f"{what} on {self.host or self.cluster}"

    @property
    def is_over(self) -> bool:
        return self.expires_at <= timezone.now()

    def clean(self) -> None:
        """Refuses a pattern that RE2 refuses, and a rule about nothing or nowhere."""
        if not self.pattern and self.signature is None:
            raise ValidationError("Give a signature or a pattern to ignore.")
        if self.cluster is None and not self.host:
            raise ValidationError("Give the host or the cluster that it is for.")
        if self.pattern:
            try:
                check_pattern(self.pattern)
            except PatternError as error:
                raise ValidationError({"pattern": str(error)}) from error


class MaintenanceWindow(models.Model):
    """Hosts, a job, or a whole cluster under maintenance: what they report then is expected.

    No hosts and no job: all of the cluster. Hosts and a job: those hosts, for that job.
    """

    edited_by: ClassVar[Capability] = Capability.EDIT_TAXONOMY

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    hosts = models.JSONField(default=list, blank=True)
    job = models.CharField("job's id at the scheduler", max_length=200, blank=True)
    starts_at = models.DateTimeField("from")
    ends_at = models.DateTimeField("until")
    reason = models.CharField(max_length=500)

    class Meta:
        ordering = ["-starts_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(starts_at__lt=models.F("ends_at")),
                name="maintenance_ends_after_start",
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="maintenance_has_reason"),
        ]

    def __str__(self) -> str:
        named = ", ".join(self.hosts[:3]) + (", …" if len(self.hosts) > 3 else "")
        return f"{named or self.job or self.cluster} from {self.starts_at:%Y-%m-%d %H:%M} UTC"

    def clean(self) -> None:
        """Refuses a window that ends before it begins."""
        if self.starts_at and self.ends_at and self.ends_at <= self.starts_at:
            raise ValidationError({"ends_at": "The window ends before it begins."})
