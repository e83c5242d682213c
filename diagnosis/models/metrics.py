"""Where metrics come from, and what each of them means."""

from enum import StrEnum
from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils import timezone

from diagnosis.degradation.catalogue import Direction, MetricKind
from diagnosis.models.words import choices, one_of
from diagnosis.sources.labels import EntityKind
from diagnosis.sources.queries import MetricQuery, QueryRowError, query_of_row
from incidents.models import Cluster
from incidents.roles import Capability

_metric = RegexValidator(r"^[a-z0-9_]+\Z", "Small letters, digits and underscores.")


class SourceKind(StrEnum):
    """What a source speaks: metrics of hosts, or the progress of jobs."""

    PROMETHEUS = "prometheus"
    NCCL_RAS = "nccl-ras"


class SourceState(StrEnum):
    """How a source did when it was asked last."""

    NOT_ASKED = "not-asked"
    ANSWERS = "answers"
    FAILS = "fails"


class MetricSource(models.Model):
    """A server that knows the metrics of a cluster's hosts, or of all clusters; or NCCL's RAS
    service, which jobs bring with them.

    The secret itself is in the environment of web and workers: `secret_name` says under which name,
    after the prefix of settings.METRIC_SECRETS. From `state` on the watch writes what came of
    asking; `retry_at` keeps other jobs from asking a source that just failed.
    """

    edited_by: ClassVar[Capability] = Capability.OPERATE

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(
        max_length=16, choices=choices(SourceKind), default=SourceKind.PROMETHEUS
    )
    cluster = models.ForeignKey(
        Cluster,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Empty: for every cluster that has no source of its own.",
    )
    url = models.CharField(
        "address",
        max_length=500,
        help_text="With a path where /api/v1 stands below one; for NCCL RAS the port, 28028.",
    )
    username = models.CharField(
        max_length=200, blank=True, help_text="Empty: the secret is a bearer token."
    )
    secret_name = models.CharField(
        "name of the secret",
        max_length=100,
        blank=True,
        help_text="PROM for the environment variable AEGIS_SOURCE_SECRET_PROM; never the secret.",
    )
    tenant = models.CharField(
        max_length=200, blank=True, help_text="Sent as X-Scope-OrgID (Mimir, Thanos, Cortex)."
    )
    verify_tls = models.BooleanField("check the certificate", default=True)
    ca_file = models.CharField("file of the CA's certificate", max_length=500, blank=True)
    host_labels = models.JSONField(
        default=dict, blank=True, help_text='By exporter: {"node": ["instance"]}; else as shipped.'
    )
    aliases = models.JSONField(
        default=dict, blank=True, help_text='Other names of hosts: {"10.0.0.7": "node-007"}.'
    )
    step_s = models.PositiveIntegerField(
        "seconds between samples", default=15, validators=[MinValueValidator(1)]
    )
    delay_s = models.PositiveIntegerField(
        "seconds until a sample is there", default=15, help_text="One scrape interval or so."
    )
    enabled = models.BooleanField(default=True)
    changed_at = models.DateTimeField(default=timezone.now, editable=False)

    state = models.CharField(
        max_length=16, choices=choices(SourceState), default=SourceState.NOT_ASKED, editable=False
    )
    error = models.TextField(blank=True, editable=False)
    permanent = models.BooleanField("asking again cannot help", default=False, editable=False)
    failing_since = models.DateTimeField(null=True, blank=True, editable=False)
    answered_at = models.DateTimeField("last answer", null=True, blank=True, editable=False)
    retry_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            one_of("kind", SourceKind, "source_kind_known"),
            one_of("state", SourceState, "source_state_known"),
            models.CheckConstraint(condition=models.Q(step_s__gte=1), name="source_step_positive"),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuses a secret that is not there, and label maps of another shape."""
        if self.kind == SourceKind.NCCL_RAS and not _is_port(self.url):
            raise ValidationError({"url": "NCCL RAS is asked on the jobs' hosts: give its port."})
        if self.secret_name and self.secret_name not in settings.METRIC_SECRETS:
            raise ValidationError({"secret_name": "The environment has no such secret."})
        if not _is_map(self.host_labels, list):
            raise ValidationError({"host_labels": "Map exporters to lists of labels."})
        if not _is_map(self.aliases, str):
            raise ValidationError({"aliases": "Map names to names."})


def _is_map(value: Any, of: type) -> bool:
    return isinstance(value, dict) and all(isinstance(item, of) for item in value.values())


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) < 65_536


class MetricDefinition(models.Model):
    """One metric: how it is judged, and how it is asked for.

    `query` has the columns of a row of the shipped `queries.yaml`; empty where no source is asked.
    `edited` marks a row that people changed: a newer shipped catalogue leaves it alone.
    """

    edited_by: ClassVar[Capability] = Capability.EDIT_TAXONOMY

    metric = models.CharField(max_length=100, unique=True, validators=[_metric])
    unit = models.CharField(max_length=50, blank=True)
    entity = models.CharField(max_length=16, choices=choices(EntityKind))
    bad = models.CharField("bad direction", max_length=16, choices=choices(Direction))
    kind = models.CharField(max_length=16, choices=choices(MetricKind))
    floor = models.FloatField(help_text="The smallest change that matters, relative.")
    scale = models.FloatField(
        null=True, blank=True, help_text="Of a counter: the size below which nothing matters."
    )
    implicates = models.CharField("fault that it points to", max_length=100, blank=True)
    exporters = models.JSONField(
        default=list, blank=True, help_text="Exporters' names that mean the same."
    )
    query = models.JSONField(default=dict, blank=True, help_text="How a source is asked for it.")
    enabled = models.BooleanField("asked from sources", default=True)
    shipped = models.BooleanField(default=False, editable=False)
    edited = models.BooleanField(default=False, editable=False)

    class Meta:
        ordering = ["metric"]
        constraints = [
            one_of("entity", EntityKind, "metric_entity_known"),
            one_of("bad", Direction, "metric_direction_known"),
            one_of("kind", MetricKind, "metric_kind_known"),
            models.CheckConstraint(condition=models.Q(floor__gt=0), name="metric_floor_positive"),
        ]

    def __str__(self) -> str:
        return self.metric

    def clean(self) -> None:
        """Refuses a query that cannot be asked, and floors that mean nothing."""
        if self.floor is not None and not 0 < self.floor < float("inf"):
            raise ValidationError({"floor": "Give a positive number."})
        if self.scale is not None and not 0 < self.scale < float("inf"):
            raise ValidationError({"scale": "Give a positive number, or nothing."})
        if not isinstance(self.exporters, list) or not all(
            isinstance(name, str) for name in self.exporters
        ):
            raise ValidationError({"exporters": "Give a list of names."})
        try:
            self.as_query()
        except QueryRowError as error:
            raise ValidationError({"query": str(error)}) from error

    def as_query(self) -> MetricQuery | None:
        """How a source is asked for it; None where none is. Raises `QueryRowError`."""
        return query_of_row(self.metric, self.query) if self.query else None
