"""Clusters and hosts."""

from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone

from incidents.choices import HostState
from incidents.hostnames import normalise_host, what_is_wrong
from incidents.models.constraints import one_of
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class Cluster(models.Model):
    """A set of hosts with one scheduler and one naming of hosts."""

    edited_by: ClassVar[Capability] = Capability.OPERATE

    name = models.CharField(max_length=100, unique=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[models.Manager["Cluster"]] = ReachedManager.by("name")

    class Meta:
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=~models.Q(name=""), name="cluster_named")]

    def __str__(self) -> str:
        return self.name


class Host(models.Model):
    """A machine. Shown by its name as first given, found by the normalised one."""

    edited_by: ClassVar[Capability] = Capability.OPERATE

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="hosts")
    name = models.CharField(max_length=255)
    normalised_name = models.CharField(max_length=255, editable=False, db_index=True)
    state = models.CharField(max_length=16, choices=HostState.choices, default=HostState.IN_SERVICE)
    pod = models.CharField(max_length=100, blank=True)
    tor = models.CharField("ToR group", max_length=100, blank=True)
    lemon_score = models.FloatField(
        "repeat-offender score", default=0.0, db_default=0.0, editable=False, db_index=True
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[models.Manager["Host"]] = ReachedManager.by("cluster__name")

    class Meta:
        ordering = ["normalised_name"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "normalised_name"], name="host_once_per_cluster"
            ),
            models.CheckConstraint(condition=~models.Q(normalised_name=""), name="host_named"),
            one_of("state", HostState, name="host_state_known"),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Keeps the normalised name in step with the name."""
        self.normalised_name = normalise_host(self.name)
        super().save(*args, **kwargs)

    def clean(self) -> None:
        """Tells a person of what is no name, and of a second spelling of one host."""
        if wrong := what_is_wrong(self.name):
            raise ValidationError({"name": wrong})
        self.normalised_name = normalise_host(self.name)
        same = Host.objects.filter(cluster=self.cluster_id, normalised_name=self.normalised_name)
        if same.exclude(pk=self.pk).exists():
            raise ValidationError({"name": "This cluster has that host, perhaps spelt otherwise."})

    @classmethod
    def named(cls, cluster: Cluster, name: str) -> "Host":
        """An unsaved host with its normalised name filled in."""
        return cls(cluster=cluster, name=name.strip(), normalised_name=normalise_host(name))
