"""The editable knowledge: fault types, signatures, and every version of them."""

from typing import ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from diagnosis.core.words import Action, SignatureClass
from diagnosis.models.words import choices, one_of
from diagnosis.taxonomy.patterns import PatternError, check_pattern, compile_re2
from diagnosis.taxonomy.signature import Implicates, Severity, Stream
from incidents.roles import Capability

_code = RegexValidator(
    r"^[a-z0-9]+(-[a-z0-9]+)*\Z", "Small letters and digits, with hyphens between words."
)


#: An older version of Aegis that still serves writes rows without the newer lists.
no_rows = models.Value([], output_field=models.JSONField())


class FaultType(models.Model):
    """A fault by its code: what it is, how bad, and what to do about it.

    `edited` marks a row that people changed: a newer shipped taxonomy leaves it alone.
    """

    edited_by: ClassVar[Capability] = Capability.EDIT_TAXONOMY

    code = models.CharField(max_length=100, unique=True, validators=[_code])
    title = models.CharField(max_length=200)
    component = models.CharField(max_length=50)
    fault_class = models.CharField("class", max_length=16, choices=choices(SignatureClass))
    severity = models.CharField(max_length=16, choices=choices(Severity))
    action = models.CharField(max_length=16, choices=choices(Action))
    explanation = models.TextField(blank=True)
    runbook = models.URLField("runbook link", max_length=500, blank=True)
    shipped = models.BooleanField(default=False, editable=False)
    edited = models.BooleanField(default=False, editable=False)

    class Meta:
        ordering = ["code"]
        constraints = [
            one_of("fault_class", SignatureClass, "fault_class_known"),
            one_of("severity", Severity, "fault_severity_known"),
            one_of("action", Action, "fault_action_known"),
        ]

    def __str__(self) -> str:
        return self.code


class Signature(models.Model):
    """A pattern (RE2, searched within one line) that tells a fault type from a log.

    `follow_on`: a consequence or summary, never the primary cause while another signature stands.
    `escalation_idea` has the shape of `escalates` and is switched off.
    """

    edited_by: ClassVar[Capability] = Capability.EDIT_TAXONOMY

    code = models.CharField(max_length=100, unique=True, validators=[_code])
    fault_type = models.ForeignKey(FaultType, on_delete=models.PROTECT, related_name="signatures")
    pattern = models.TextField(help_text="RE2 syntax, searched within one line.")
    stream = models.CharField(max_length=16, choices=choices(Stream))
    implicates = models.CharField(max_length=16, choices=choices(Implicates))
    priority = models.IntegerField(
        default=50, help_text="Of several that match one line, the highest wins."
    )
    follow_on = models.BooleanField("consequence, not cause", default=False)
    enabled = models.BooleanField(default=True)
    examples = models.JSONField(
        default=list, blank=True, help_text="A list of lines that the pattern must match."
    )
    source = models.CharField(max_length=500, blank=True)
    provenance = models.CharField(
        max_length=16, blank=True, help_text="How sure the wording is: source, table, log, known."
    )
    escalates = models.JSONField(null=True, blank=True)
    escalation_idea = models.JSONField(null=True, blank=True)
    shipped = models.BooleanField(default=False, editable=False)
    edited = models.BooleanField(default=False, editable=False)

    class Meta:
        ordering = ["-priority", "code"]
        constraints = [
            models.CheckConstraint(condition=~models.Q(pattern=""), name="signature_has_pattern"),
            one_of("stream", Stream, "signature_stream_known"),
            one_of("implicates", Implicates, "signature_implicates_known"),
        ]

    def __str__(self) -> str:
        return self.code

    def clean(self) -> None:
        """Refuses a pattern that RE2 refuses, and examples that it doesn't match."""
        try:
            check_pattern(self.pattern)
        except PatternError as error:
            raise ValidationError({"pattern": str(error)}) from error
        if not isinstance(self.examples, list) or not all(
            isinstance(example, str) for example in self.examples
        ):
            raise ValidationError({"examples": "Give a list of lines."})
        pattern = compile_re2(self.pattern)
        for example in self.examples:
            if pattern.search(example.encode()) is None:
                raise ValidationError({"examples": f"The pattern does not match: {example}"})


class TaxonomyVersion(models.Model):
    """The rules as they were after one change. `version` is what diagnoses record.

    Several rows may share a version: texts and examples change no verdict. `rows` are the
    signatures; the other lists hold what the site does differently (`Rulebook`).
    """

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    version = models.CharField(max_length=64, db_index=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    who = models.CharField(max_length=200)
    why = models.CharField(max_length=500, blank=True)
    rows = models.JSONField()
    overrides = models.JSONField(default=list, db_default=no_rows)
    ignore_rules = models.JSONField(default=list, db_default=no_rows)
    maintenance = models.JSONField(default=list, db_default=no_rows)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.version} ({self.created_at:%Y-%m-%d %H:%M})"


class VersionInCluster(models.Model):
    """The version that diagnoses of one cluster record, where it has rules of its own."""

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    taxonomy_version = models.ForeignKey(
        TaxonomyVersion, on_delete=models.CASCADE, related_name="in_clusters"
    )
    cluster = models.CharField("cluster's name", max_length=100)
    version = models.CharField(max_length=64, db_index=True)

    class Meta:
        ordering = ["-taxonomy_version", "cluster"]
        constraints = [
            models.UniqueConstraint(
                fields=["taxonomy_version", "cluster"], name="version_once_per_cluster"
            )
        ]

    def __str__(self) -> str:
        return f"{self.version} in {self.cluster}"
