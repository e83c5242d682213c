"""What lists are filtered by over REST. Incidents take the desk's filters and a few more."""

from collections.abc import Sequence
from typing import Any

import django_filters
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.request import Request

from incidents.api.expanding import PARAMETER as EXPAND
from incidents.api.fields import PARAMETER as FIELDS
from incidents.api.problems import InvalidQuery
from incidents.choices import (
    Action,
    DeliveryState,
    DiagnosisState,
    EvidenceKind,
    ExecutionState,
    HostState,
    JobState,
    MessageState,
    ParseStatus,
    SuspectRole,
)
from incidents.filters import IncidentFilter
from incidents.hostnames import normalise_host
from incidents.models import (
    Decision,
    Diagnosis,
    Evidence,
    Execution,
    Host,
    InboxMessage,
    Job,
    Recommendation,
    Suspect,
    WebhookDelivery,
)

_PAGING = frozenset({"cursor", "limit"})
_Rows = QuerySet[Any]


class IdFilter(django_filters.NumberFilter):
    """The id of a record: what a database's whole number holds, and no more."""

    def __init__(self, field_name: str, *, label: str) -> None:
        super().__init__(
            field_name, label=label, min_value=0, max_value=2**63 - 1, decimal_places=0
        )


class QueryFilter(DjangoFilterBackend):
    """Filters by the query, and refuses parameters that do not exist: a typo must not widen it."""

    def filter_queryset(
        self, request: Request, queryset: QuerySet[Model], view: Any
    ) -> QuerySet[Model]:
        """The rows that are wanted. Raises `InvalidQuery` by parameter."""
        filterset = self.get_filterset(request, queryset, view)
        known = _PAGING | set(filterset.filters if filterset else ())
        refuse_unknown(request, known)
        if filterset is None:
            return queryset
        if not filterset.is_valid():
            raise InvalidQuery({name: list(texts) for name, texts in filterset.errors.items()})
        return filterset.qs  # type: ignore[no-any-return]


def refuse_unknown(request: Request, known: frozenset[str] | set[str]) -> None:
    """Raises `InvalidQuery` for parameters that an address does not take."""
    unknown = sorted(set(request.query_params) - known - {FIELDS, EXPAND})
    if unknown:
        message = f"There is no such parameter here. Known: {', '.join(sorted(known))}."
        raise InvalidQuery({name: [message] for name in unknown})


class IncidentListFilter(IncidentFilter):
    """The desk's filters, and what programs look for."""

    job = IdFilter("job_id", label="Job's id")
    attempt = IdFilter("attempt_id", label="Attempt's id")
    host = django_filters.CharFilter(method="of_host", label="Host, however it is spelt")
    dedup_key = django_filters.CharFilter("dedup_key", label="Dedup key")
    diagnosis_state = django_filters.ChoiceFilter(choices=DiagnosisState.choices)
    opened_after = django_filters.IsoDateTimeFilter("opened_at", "gte", label="Opened after")
    opened_before = django_filters.IsoDateTimeFilter("opened_at", "lt", label="Opened before")
    updated_after = django_filters.IsoDateTimeFilter("updated_at", "gte", label="Changed after")

    def of_host(self, incidents: _Rows, name: str, host: str) -> _Rows:
        named = Host.objects.filter(incidents=OuterRef("pk"), normalised_name=normalise_host(host))
        return incidents.filter(Exists(named))


class JobListFilter(django_filters.FilterSet):
    """Jobs by what their scheduler and owner call them."""

    external_id = django_filters.CharFilter("external_id", label="The scheduler's id")
    source = django_filters.CharFilter("source", label="Scheduler")
    cluster = django_filters.CharFilter("cluster__name", label="Cluster")
    owner = django_filters.CharFilter("owner", label="Owner")
    state = django_filters.ChoiceFilter(choices=JobState.choices)
    q = django_filters.CharFilter(method="about", label="In name or scheduler's id")

    class Meta:
        model = Job
        fields: Sequence[str] = []

    def about(self, jobs: _Rows, name: str, text: str) -> _Rows:
        return jobs.filter(Q(name__icontains=text) | Q(external_id__icontains=text))


class HostListFilter(django_filters.FilterSet):
    """Hosts by place, name and state."""

    cluster = django_filters.CharFilter("cluster__name", label="Cluster")
    state = django_filters.ChoiceFilter(choices=HostState.choices)
    name = django_filters.CharFilter(method="named", label="Name, however it is spelt")
    q = django_filters.CharFilter("normalised_name", "icontains", label="In the name")
    repeat_offender_from = django_filters.NumberFilter(
        "lemon_score", "gte", label="Repeat-offender score of at least this (0 to 1)"
    )

    class Meta:
        model = Host
        fields: Sequence[str] = []

    def named(self, hosts: _Rows, name: str, host: str) -> _Rows:
        return hosts.filter(normalised_name=normalise_host(host))


class EvidenceListFilter(django_filters.FilterSet):
    """The files of one incident."""

    kind = django_filters.ChoiceFilter(choices=EvidenceKind.choices)
    parse_status = django_filters.ChoiceFilter(choices=ParseStatus.choices)

    class Meta:
        model = Evidence
        fields: Sequence[str] = []


class DiagnosisListFilter(django_filters.FilterSet):
    """The runs of one incident."""

    state = django_filters.ChoiceFilter(choices=DiagnosisState.choices)

    class Meta:
        model = Diagnosis
        fields: Sequence[str] = []


class SuspectListFilter(django_filters.FilterSet):
    """Suspects over all diagnoses."""

    incident = IdFilter("diagnosis__incident_id", label="Incident's id")
    diagnosis = IdFilter("diagnosis_id", label="Diagnosis's id")
    role = django_filters.ChoiceFilter(choices=SuspectRole.choices)
    fault = django_filters.CharFilter("fault", label="Fault type's code")
    host = django_filters.CharFilter("target_host", label="Host, as the evidence spells it")

    class Meta:
        model = Suspect
        fields: Sequence[str] = []


class MessageListFilter(django_filters.FilterSet):
    """The messages of one inbox."""

    state = django_filters.ChoiceFilter(choices=MessageState.choices)

    class Meta:
        model = InboxMessage
        fields: Sequence[str] = []


class DeliveryListFilter(django_filters.FilterSet):
    """The messages to one endpoint."""

    state = django_filters.ChoiceFilter(choices=DeliveryState.choices)
    verb = django_filters.CharFilter("verb", label="Kind of event")
    message_id = django_filters.CharFilter("message_id", label="The header webhook-id")

    class Meta:
        model = WebhookDelivery
        fields: Sequence[str] = []


class ExecutionListFilter(django_filters.FilterSet):
    """Commands over all incidents."""

    incident = IdFilter("recommendation__diagnosis__incident_id", label="Incident's id")
    state = django_filters.ChoiceFilter(choices=ExecutionState.choices)

    class Meta:
        model = Execution
        fields: Sequence[str] = []


class RecommendationListFilter(django_filters.FilterSet):
    """Recommendations over all diagnoses."""

    incident = IdFilter("diagnosis__incident_id", label="Incident's id")
    diagnosis = IdFilter("diagnosis_id", label="Diagnosis's id")
    action = django_filters.ChoiceFilter(choices=Action.choices)
    decided = django_filters.BooleanFilter(method="is_decided", label="Whether a decision stands")

    class Meta:
        model = Recommendation
        fields: Sequence[str] = []

    def is_decided(self, items: _Rows, name: str, wanted: bool) -> _Rows:
        standing = Exists(Decision.objects.filter(recommendation=OuterRef("pk"), standing=True))
        return items.filter(standing if wanted else ~standing)
