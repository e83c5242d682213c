"""What incidents are filtered by: the same on the desk and in the API."""

from typing import Any

import django_filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from incidents.choices import OPEN_STATUSES, IncidentKind, IncidentStatus, Severity, VerdictClass
from incidents.hostnames import normalise_host
from incidents.models import Host, Incident, Suspect

#: Every incident that still wants someone, whatever its status.
OPEN = "open"
NOBODY = "none"
ME = "me"

STATUSES = [(OPEN, "Open"), *IncidentStatus.choices, ("all", "All")]


class IncidentFilter(django_filters.FilterSet):
    """`status` (open, all, or one), `kind`, `severity`, `class`, `cluster` and more.

    `assignee` is a name, `me` or `none`; `q` looks for a job, host, incident number, title or
    fault code.
    """

    status = django_filters.ChoiceFilter(choices=STATUSES, method="with_status")
    kind = django_filters.ChoiceFilter(choices=IncidentKind.choices)
    severity = django_filters.ChoiceFilter(choices=Severity.choices)
    verdict_class = django_filters.ChoiceFilter(choices=VerdictClass.choices)
    cluster = django_filters.CharFilter(field_name="cluster__name")
    owner = django_filters.CharFilter(field_name="job__owner")
    assignee = django_filters.CharFilter(method="of_assignee")
    q = django_filters.CharFilter(method="about", max_length=200)

    @classmethod
    def get_filters(cls) -> dict[str, Any]:
        """The verdict's class is asked for as `class`, which Python keeps for itself."""
        found = super().get_filters()
        return {"class" if name == "verdict_class" else name: one for name, one in found.items()}

    def with_status(
        self, incidents: QuerySet[Incident], name: str, status: str
    ) -> QuerySet[Incident]:
        if status == OPEN:
            return incidents.filter(status__in=OPEN_STATUSES)
        return incidents if status == "all" else incidents.filter(status=status)

    def of_assignee(
        self, incidents: QuerySet[Incident], name: str, whom: str
    ) -> QuerySet[Incident]:
        if whom == NOBODY:
            return incidents.filter(assignee=None)
        if whom == ME and self.request is not None:
            return incidents.filter(assignee=self.request.user.pk)
        return incidents.filter(assignee__username=whom)

    def about(self, incidents: QuerySet[Incident], name: str, text: str) -> QuerySet[Incident]:
        words = text.strip()
        number = words.lower().removeprefix("inc-").removeprefix("#")
        found = (
            Q(title__icontains=words)
            | Q(job__name__icontains=words)
            | Q(job__external_id__icontains=words)
            | Q(suspect_name__icontains=words)
            | Exists(_hosts_named(words))
            | Exists(_suspects_like(words))
        )
        if number.isdecimal() and len(number) < 18:
            found |= Q(pk=int(number))
        return incidents.filter(found)


def _hosts_named(words: str) -> QuerySet[Host]:
    return Host.objects.filter(
        incidents=OuterRef("pk"), normalised_name__contains=normalise_host(words)
    )


def _suspects_like(words: str) -> QuerySet[Suspect]:
    return Suspect.objects.filter(diagnosis__incident=OuterRef("pk")).filter(
        Q(fault__icontains=words) | Q(target_host__icontains=words)
    )
