"""Managers that show what lies within the reach of whoever acts."""

from collections.abc import Sequence
from typing import TypeVar

from django.db import models
from django.db.models import Q, QuerySet

from incidents import reach

_Record = TypeVar("_Record", bound=models.Model)


class ReachedManager(models.Manager[_Record]):
    """Records by the paths that lead to the name of their cluster and the owner of their job.

    Of several paths one has to lead within reach. Without a path to an owner the record is seen
    by whoever reaches its cluster.
    """

    cluster_paths: Sequence[str] = ()
    owner_paths: Sequence[str] = ()

    @classmethod
    def by(
        cls, cluster: str | Sequence[str], owner: str | Sequence[str] = ()
    ) -> "ReachedManager[_Record]":
        """The manager of a model."""
        made = cls()
        made.cluster_paths = [cluster] if isinstance(cluster, str) else cluster
        made.owner_paths = [owner] if isinstance(owner, str) and owner else [*owner]
        return made

    @classmethod
    def of_incident(cls, path: str) -> "ReachedManager[_Record]":
        """The manager of what belongs to an incident, by the path that leads there."""
        return cls.by(f"{path}__cluster__name", f"{path}__job__owner")

    def get_queryset(self) -> QuerySet[_Record]:
        rows = super().get_queryset()
        limits = reach.current()
        if not limits.is_limited:
            return rows
        if limits.clusters is not None:
            rows = rows.filter(_one_of(self.cluster_paths, limits.clusters))
        if limits.owners is not None and self.owner_paths:
            rows = rows.filter(_one_of(self.owner_paths, limits.owners))
        return rows


def _one_of(paths: Sequence[str], names: frozenset[str]) -> Q:
    found = Q()
    for path in paths:
        found |= Q(**{f"{path}__in": sorted(names)})
    return found
