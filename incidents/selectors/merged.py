"""Incidents that were merged: who stands for whom, and what belongs together."""

from collections.abc import Sequence

from django.db.models import QuerySet

from incidents.models import Incident


def standing_record(incident: Incident) -> Incident:
    """The incident that this one is part of by now; itself, where it was merged into none."""
    while incident.merged_into is not None:
        incident = incident.merged_into
    return incident


def merged_into(incident: Incident) -> QuerySet[Incident]:
    """What was merged into an incident itself, oldest first."""
    found = Incident.objects.filter(merged_into=incident)
    return found.select_related("job", "attempt", "assignee").order_by("id")


def family_of(incident: Incident) -> Sequence[int]:
    """The keys of an incident and of all that were merged into it, over any number of steps."""
    found = newest = [incident.pk]
    while newest:
        parts = Incident.objects.filter(merged_into__in=newest)
        newest = list(parts.values_list("pk", flat=True))
        found = [*found, *newest]
    return found
