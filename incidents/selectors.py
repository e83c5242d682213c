"""Reads: every queryset that a page, endpoint or admin list shows."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Case, Count, IntegerField, Prefetch, Q, QuerySet, Value, When

from incidents.choices import DiagnosisState, IncidentStatus, Severity
from incidents.models import (
    ApiToken,
    Attempt,
    Decision,
    Diagnosis,
    Event,
    Evidence,
    Finding,
    Host,
    Incident,
    Job,
    RankPlacement,
    Recommendation,
    Suspect,
)

_SEVERITY_RANK = Case(
    *[When(severity=severity, then=Value(rank)) for rank, severity in enumerate(Severity)],
    output_field=IntegerField(),
)


def incidents() -> QuerySet[Incident]:
    """Every incident with what a list shows of it, newest first."""
    return Incident.objects.select_related("job__cluster", "attempt", "assignee").order_by("-id")


def desk() -> QuerySet[Incident]:
    """Open incidents, worst first, then the longest open."""
    return (
        incidents()
        .exclude(status=IncidentStatus.RESOLVED)
        .annotate(severity_rank=_SEVERITY_RANK)
        .order_by("severity_rank", "opened_at", "id")
    )


def incident_with_hosts() -> QuerySet[Incident]:
    """Incidents for a page or endpoint of one: with hosts, attempt's job and what it merged into."""
    return incidents().select_related("merged_into").prefetch_related("hosts")


def open_incidents_of(attempt: Attempt) -> QuerySet[Incident]:
    """The open incidents of one attempt, oldest first."""
    return attempt.incidents.exclude(status=IncidentStatus.RESOLVED).order_by("id")


def diagnoses_of(incident: Incident) -> QuerySet[Diagnosis]:
    """The runs of one incident, newest first, without their details."""
    return Diagnosis.objects.filter(incident=incident).order_by("-number")


def diagnoses_in_full() -> QuerySet[Diagnosis]:
    """Runs with suspects, findings, recommendations, and decisions, in a fixed number of queries."""
    return Diagnosis.objects.select_related("incident").prefetch_related(
        "evidence",
        Prefetch("findings", queryset=findings()),
        Prefetch(
            "suspects",
            queryset=Suspect.objects.order_by("position").prefetch_related(
                Prefetch("findings", queryset=findings())
            ),
        ),
        Prefetch("recommendations", queryset=recommendations()),
    )


def latest_finished(incident: Incident) -> Diagnosis | None:
    """The newest finished run in full: what the incident page answers with."""
    return (
        diagnoses_in_full()
        .filter(incident=incident, state=DiagnosisState.DONE)
        .order_by("-number")
        .first()
    )


def findings() -> QuerySet[Finding]:
    """Findings with the evidence they come from."""
    return Finding.objects.select_related("evidence__blob").order_by("position")


def recommendations() -> QuerySet[Recommendation]:
    """Recommendations with their decisions, the standing one first."""
    decisions = Decision.objects.select_related("user").order_by("-id")
    return Recommendation.objects.order_by("position").prefetch_related(
        Prefetch("decisions", queryset=decisions)
    )


def decisions() -> QuerySet[Decision]:
    """Every decision, newest first, with what it is about."""
    return Decision.objects.select_related("user", "recommendation__diagnosis__incident").order_by(
        "-id"
    )


def evidence_of(incident: Incident) -> QuerySet[Evidence]:
    """The files of one incident, by name."""
    return Evidence.objects.filter(incident=incident).select_related("blob").order_by("name", "id")


def timeline(incident: Incident) -> QuerySet[Event]:
    """What happened to one incident, in order."""
    return Event.objects.filter(incident=incident).order_by("id")


def events_since(cursor: int = 0) -> QuerySet[Event]:
    """The feed: everything after the event with this id."""
    return Event.objects.filter(id__gt=cursor).select_related("incident", "job", "host")


def jobs() -> QuerySet[Job]:
    """Every job, newest first, with how many attempts and open incidents it has."""
    still_open = ~Q(incidents__status=IncidentStatus.RESOLVED) & Q(incidents__isnull=False)
    return (
        Job.objects.select_related("cluster")
        .annotate(
            attempt_count=Count("attempts", distinct=True),
            open_incident_count=Count("incidents", filter=still_open, distinct=True),
        )
        .order_by("-id")
    )


def attempts_of(job: Job) -> QuerySet[Attempt]:
    """The attempts of one job, newest first."""
    return Attempt.objects.filter(job=job).select_related("job").order_by("-number")


def attempts() -> QuerySet[Attempt]:
    """Every attempt, newest first."""
    return Attempt.objects.select_related("job__cluster").order_by("-id")


def placement_of(attempt: Attempt) -> QuerySet[RankPlacement]:
    """Where each rank of an attempt runs, by rank."""
    return RankPlacement.objects.filter(attempt=attempt).select_related("host").order_by("rank")


def hosts() -> QuerySet[Host]:
    """Every host with how many open incidents name it."""
    still_open = ~Q(incidents__status=IncidentStatus.RESOLVED) & Q(incidents__isnull=False)
    return (
        Host.objects.select_related("cluster")
        .annotate(open_incident_count=Count("incidents", filter=still_open, distinct=True))
        .order_by("normalised_name", "id")
    )


def incidents_of_host(host: Host) -> QuerySet[Incident]:
    """The incidents that name a host, newest first."""
    return incidents().filter(hosts=host)


def tokens() -> QuerySet[ApiToken]:
    """Every API token with its owner, newest first."""
    return ApiToken.objects.select_related("owner").order_by("-id")


def runs_with_expired_lease(now: datetime) -> Sequence[Diagnosis]:
    """Runs whose worker has not been heard of for longer than its lease."""
    return list(Diagnosis.objects.filter(state=DiagnosisState.RUNNING, lease_expires_at__lt=now))
