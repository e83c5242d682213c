"""What incidents are filtered by: the same on the desk and in the API."""

import re
from typing import Any

import django_filters
from django.db.models import Q, QuerySet
from django.utils import timezone

from incidents import selectors
from incidents.choices import OPEN_STATUSES, IncidentKind, IncidentStatus, Severity, VerdictClass
from incidents.models import Incident, SearchTerm
from incidents.search_terms import wanted_terms

#: Every incident that still wants someone, whatever its status.
OPEN = "open"
NOBODY = "none"
ME = "me"

#: Snoozed ones are off the desk unless they are asked for.
SNOOZED = [("no", "Not snoozed"), ("yes", "Snoozed"), ("any", "Any")]
#: `INC-12` and `#12` are that incident and no other; a bare 12 may be part of a name as well.
_REFERENCE = re.compile(r"(?P<prefix>inc-|#)?(?P<number>[0-9]{1,17})", re.IGNORECASE)
STATUSES = [(OPEN, "Open"), *IncidentStatus.choices, ("all", "All")]


def named_incident(text: str) -> Incident | None:
    """The incident that `INC-12` or `#12` names, where there is one."""
    named = _REFERENCE.fullmatch(text.strip())
    if named is None or not named["prefix"]:
        return None
    return Incident.objects.filter(pk=int(named["number"])).first()


class IncidentFilter(django_filters.FilterSet):
    """`status` (open, all, or one), `kind`, `severity`, `class`, `cluster` and more.

    `assignee` is a name, `me` or `none`. `q` looks for job, host, incident, ticket, fault code,
    GPU, and words of titles, findings and notes: every word of it, each by its beginning.
    """

    status = django_filters.ChoiceFilter(choices=STATUSES, method="with_status")
    kind = django_filters.ChoiceFilter(choices=IncidentKind.choices)
    severity = django_filters.ChoiceFilter(choices=Severity.choices)
    verdict_class = django_filters.ChoiceFilter(choices=VerdictClass.choices)
    cluster = django_filters.CharFilter(field_name="cluster__name")
    owner = django_filters.CharFilter(field_name="job__owner")
    assignee = django_filters.CharFilter(method="of_assignee")
    snoozed = django_filters.ChoiceFilter(choices=SNOOZED, method="that_sleep")
    undecided = django_filters.ChoiceFilter(choices=[("yes", "Needs a decision")], method="waiting")
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

    def that_sleep(
        self, incidents: QuerySet[Incident], name: str, which: str
    ) -> QuerySet[Incident]:
        asleep = Q(snoozed_for_news=True) | Q(snoozed_until__gt=timezone.now())
        if which == "any":
            return incidents
        if which == "yes":
            return incidents.filter(asleep, status__in=OPEN_STATUSES)
        awake = Q(snoozed_until=None) | Q(snoozed_until__lte=timezone.now())
        return incidents.filter(awake, snoozed_for_news=False)

    def waiting(self, incidents: QuerySet[Incident], name: str, which: str) -> QuerySet[Incident]:
        """Those with a recommendation that nobody decided about."""
        return selectors.with_answer(incidents).filter(undecided=True)

    def about(self, incidents: QuerySet[Incident], name: str, text: str) -> QuerySet[Incident]:
        if (named := _REFERENCE.fullmatch(text.strip())) and named["prefix"]:
            return incidents.filter(pk=int(named["number"]))
        wanted = [_with_a_word_like(spellings) for spellings in wanted_terms(text)]
        if not wanted:
            return incidents.none()
        found = Q(*wanted)
        return incidents.filter(found | Q(pk=int(named["number"])) if named else found)


def _with_a_word_like(spellings: frozenset[str]) -> Q:
    """Incidents of which a word begins like one of these: as a list, which an index answers."""
    likely = Q()
    for spelling in spellings:
        likely |= Q(term__begins=spelling)
    return Q(pk__in=SearchTerm.objects.filter(likely).values("incident"))
