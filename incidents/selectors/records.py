"""Reads of the records: lists, and one record with what belongs to it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import (
    Count,
    Max,
    OuterRef,
    Prefetch,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce

from incidents.choices import OPEN_STATUSES, DiagnosisState
from incidents.models import (
    ApiToken,
    Attempt,
    Cluster,
    Decision,
    Diagnosis,
    Event,
    Evidence,
    Execution,
    FaultRecord,
    Finding,
    Host,
    Incident,
    Job,
    RankPlacement,
    Recommendation,
    Suspect,
    TicketLink,
)
from incidents.reach import current
from incidents.selectors.merged import family_of

#: The longest that a transaction takes from writing an event to its end.
SETTLING = timedelta(seconds=10)


def incidents() -> QuerySet[Incident]:
    """Every incident with what a list shows of it, newest first."""
    return Incident.objects.select_related("cluster", "job", "attempt", "assignee").order_by("-id")


def incident_with_hosts() -> QuerySet[Incident]:
    """Incidents for a page or endpoint of one: with hosts, tickets and what it was merged into."""
    return incidents().select_related("merged_into").prefetch_related("hosts", "tickets__connector")


def open_incidents_of(attempt: Attempt) -> QuerySet[Incident]:
    """The open incidents of one attempt, oldest first."""
    return attempt.incidents.filter(status__in=OPEN_STATUSES).order_by("id")


def diagnoses_of(incident: Incident) -> QuerySet[Diagnosis]:
    """The runs of one incident, newest first, without their details."""
    return Diagnosis.objects.filter(incident=incident).order_by("-number")


def diagnoses_in_full() -> QuerySet[Diagnosis]:
    """Runs with suspects, findings, recommendations, decisions, in a fixed number of queries."""
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


def finished_before(answer: Diagnosis) -> Diagnosis | None:
    """The finished run before this one, with what can be compared; None for the first."""
    runs = Diagnosis.objects.filter(
        incident=answer.incident_id, state=DiagnosisState.DONE, number__lt=answer.number
    )
    compared = ("evidence", "suspects", "recommendations")
    return runs.prefetch_related(*compared).order_by("-number").first()


def findings() -> QuerySet[Finding]:
    """Findings with the evidence they come from."""
    return Finding.objects.select_related("evidence__blob").order_by("position")


def recommendations() -> QuerySet[Recommendation]:
    """Recommendations with their decisions, the standing one first."""
    decisions = Decision.objects.select_related(
        "user", "carried_from__recommendation__diagnosis"
    ).order_by("-id")
    return (
        Recommendation.objects.select_related("execution")
        .order_by("position")
        .prefetch_related(Prefetch("decisions", queryset=decisions))
    )


def decisions() -> QuerySet[Decision]:
    """Every decision, newest first, with what it is about."""
    return Decision.objects.select_related("user", "recommendation__diagnosis__incident").order_by(
        "-id"
    )


def executions() -> QuerySet[Execution]:
    """Every command that was planned or run, newest first, with what it is about."""
    return Execution.objects.select_related("recommendation__diagnosis").order_by("-id")


def evidence() -> QuerySet[Evidence]:
    """Every file with its bytes' record, newest first."""
    return Evidence.objects.select_related("blob", "incident").order_by("-id")


def evidence_of(incident: Incident) -> QuerySet[Evidence]:
    """The files of one incident and of what was merged into it, by name."""
    found = Evidence.objects.filter(incident__in=family_of(incident))
    return found.select_related("blob").order_by("name", "id")


def evidence_in_use(incident: Incident) -> QuerySet[Evidence]:
    """The files of one incident that a diagnosis uses, by name: none that was set aside."""
    return evidence_of(incident).filter(set_aside_at__isnull=True)


def tickets_of(incident: Incident) -> QuerySet[TicketLink]:
    """The tickets about one incident and about what was merged into it."""
    found = TicketLink.objects.filter(incident__in=family_of(incident))
    return found.select_related("connector").order_by("id")


def timeline(incident: Incident) -> QuerySet[Event]:
    """What happened to one incident and to what was merged into it, in order."""
    return Event.objects.filter(incident__in=family_of(incident)).order_by("id")


def events_since(cursor: int = 0) -> QuerySet[Event]:
    """The feed: everything after the event with this id."""
    return Event.objects.filter(id__gt=cursor).select_related("incident", "job", "host")


def last_settled_event(now: datetime) -> int:
    """Up to which id the feed may be read: no event with a lower id will still appear.

    PostgreSQL gives out ids before transactions end, so that a later one may show up first. A gap
    among events younger than `SETTLING` is therefore taken for one that has not ended.
    """
    young_from = now - SETTLING
    young = Event.objects.filter(time__gte=young_from).order_by("id").values_list("id", flat=True)
    settled = Event.objects.filter(time__lt=young_from).aggregate(last=Max("id"))["last"]
    for pk in young:
        if settled is not None and pk > settled + 1:
            break
        settled = max(pk, settled or 0)
    return settled or 0


def suspects() -> QuerySet[Suspect]:
    """Every suspect, newest first, with its findings and the run that named it."""
    return (
        Suspect.objects.select_related("diagnosis")
        .prefetch_related(Prefetch("findings", queryset=findings()))
        .order_by("-id")
    )


def recommendations_in_full() -> QuerySet[Recommendation]:
    """Every recommendation, newest first, with its decisions and the run that made it."""
    return recommendations().select_related("diagnosis__incident").order_by("-id")


def diagnoses() -> QuerySet[Diagnosis]:
    """Every run, newest first, without its details."""
    return Diagnosis.objects.order_by("-id")


def clusters() -> QuerySet[Cluster]:
    """Every cluster, by name."""
    return Cluster.objects.order_by("name")


def jobs() -> QuerySet[Job]:
    """Every job, newest first, with how many attempts and open incidents it has."""
    attempts = Attempt.objects.filter(job=OuterRef("pk"))
    still_open = Incident.objects.filter(job=OuterRef("pk"), status__in=OPEN_STATUSES)
    return (
        Job.objects.select_related("cluster")
        .annotate(
            attempt_count=_counted(attempts, by="job"),
            open_incident_count=_counted(still_open, by="job"),
        )
        .order_by("-id")
    )


def _counted(rows: QuerySet[Any], *, by: str) -> Coalesce:
    """How many rows of another table belong to a row, asked only for the rows that are shown.

    Joins would count over the whole table before a page of it is cut out.
    """
    return Coalesce(Subquery(rows.order_by().values(by).annotate(n=Count("pk")).values("n")), 0)


def job_named(*, external_id: str, source: str, cluster: str) -> Job | None:
    """The job with this id at this scheduler, where it is known."""
    return Job.objects.filter(external_id=external_id, source=source, cluster__name=cluster).first()


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
    still_open = Incident.objects.filter(hosts=OuterRef("pk"), status__in=OPEN_STATUSES)
    return (
        Host.objects.select_related("cluster")
        .annotate(open_incident_count=_counted(still_open, by="hosts"))
        .order_by("normalised_name", "id")
    )


def incidents_of_host(host: Host) -> QuerySet[Incident]:
    """The incidents that name a host or whose answer tells of a fault on it, newest first."""
    named = Incident.hosts.through.objects.filter(host=host).values("incident_id")
    records = FaultRecord.objects.filter(host=host, incident__merged_into__isnull=True)
    told = records.order_by().values("incident_id")
    return _by_beginning(incidents().filter(pk__in=named.union(told)))


def incidents_of_job(job: Job) -> QuerySet[Incident]:
    """The incidents of a job, newest first."""
    return _by_beginning(incidents().filter(job=job))


def _by_beginning(rows: QuerySet[Incident]) -> QuerySet[Incident]:
    """In the order of the times that lists of incidents show."""
    return rows.order_by(Coalesce("onset_at", "opened_at").desc(), "-id")


def tokens() -> QuerySet[ApiToken]:
    """Every API token with its owner, newest first; nothing for those who do not see all."""
    if current().is_limited:
        return ApiToken.objects.none()
    return ApiToken.objects.select_related("owner").order_by("-id")


def runs_with_expired_lease(now: datetime) -> Sequence[Diagnosis]:
    """Runs whose worker has not been heard of for longer than its lease."""
    return list(Diagnosis.objects.filter(state=DiagnosisState.RUNNING, lease_expires_at__lt=now))
