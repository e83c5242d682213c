"""Reads: every queryset that a page, endpoint or admin list shows."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypedDict

from django.db.models import (
    Case,
    Count,
    Exists,
    IntegerField,
    Max,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)

from incidents.choices import Action, DiagnosisState, IncidentStatus, Severity, SuspectRole
from incidents.models import (
    ApiToken,
    Attempt,
    Cluster,
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
    User,
)

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

#: The longest that a transaction takes from writing an event to its end.
SETTLING = timedelta(seconds=10)

_SEVERITY_RANK = Case(
    *[When(severity=severity, then=Value(rank)) for rank, severity in enumerate(Severity)],
    output_field=IntegerField(),
)


def incidents() -> QuerySet[Incident]:
    """Every incident with what a list shows of it, newest first."""
    return Incident.objects.select_related("cluster", "job", "attempt", "assignee").order_by("-id")


def desk() -> QuerySet[Incident]:
    """Open incidents, worst first."""
    return worst_first(incidents().exclude(status=IncidentStatus.RESOLVED))


def incident_with_hosts() -> QuerySet[Incident]:
    """Incidents for a page or endpoint of one: with hosts and what it was merged into."""
    return incidents().select_related("merged_into").prefetch_related("hosts")


def open_incidents_of(attempt: Attempt) -> QuerySet[Incident]:
    """The open incidents of one attempt, oldest first."""
    return attempt.incidents.exclude(status=IncidentStatus.RESOLVED).order_by("id")


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


def evidence() -> QuerySet[Evidence]:
    """Every file with its bytes' record, newest first."""
    return Evidence.objects.select_related("blob", "incident").order_by("-id")


def evidence_of(incident: Incident) -> QuerySet[Evidence]:
    """The files of one incident, by name."""
    return Evidence.objects.filter(incident=incident).select_related("blob").order_by("name", "id")


def timeline(incident: Incident) -> QuerySet[Event]:
    """What happened to one incident, in order."""
    return Event.objects.filter(incident=incident).order_by("id")


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
    still_open = ~Q(incidents__status=IncidentStatus.RESOLVED) & Q(incidents__isnull=False)
    return (
        Job.objects.select_related("cluster")
        .annotate(
            attempt_count=Count("attempts", distinct=True),
            open_incident_count=Count("incidents", filter=still_open, distinct=True),
        )
        .order_by("-id")
    )


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


def worst_first(incidents: QuerySet[Incident]) -> QuerySet[Incident]:
    """By severity, then by the GPUs that stand idle, then the longest open."""
    return incidents.annotate(severity_rank=_SEVERITY_RANK).order_by(
        "severity_rank", "-gpu_count", "opened_at", "id"
    )


class AnswerFields(TypedDict):
    """What `with_answer` adds to an incident."""

    answer_id: int | None
    undecided: bool


if TYPE_CHECKING:
    AnsweredIncident = WithAnnotations[Incident, AnswerFields]
else:
    AnsweredIncident = Incident


def with_answer(incidents: QuerySet[Incident]) -> QuerySet[AnsweredIncident]:
    """Adds `answer_id`, the newest finished run, and `undecided`, whether it waits for someone."""
    runs = Diagnosis.objects.filter(incident=OuterRef("pk"), state=DiagnosisState.DONE)
    waiting = Recommendation.objects.filter(diagnosis=OuterRef("answer_id")).exclude(
        Q(action=Action.NONE) | Q(decisions__standing=True)
    )
    return incidents.annotate(
        answer_id=Subquery(runs.order_by("-number").values("pk")[:1])
    ).annotate(undecided=Exists(waiting))


def recommendations_of(runs: Collection[int]) -> QuerySet[Recommendation]:
    """What these runs recommend, with only the decisions that stand."""
    standing = Decision.objects.filter(standing=True)
    return (
        Recommendation.objects.filter(diagnosis__in=runs)
        .exclude(action=Action.NONE)
        .order_by("diagnosis", "position")
        .prefetch_related(Prefetch("decisions", queryset=standing))
    )


def top_suspects_of(runs: Collection[int]) -> QuerySet[Suspect]:
    """The first suspect of each of these runs."""
    return Suspect.objects.filter(diagnosis__in=runs, position=1)


def last_change(incident: Incident) -> Event | None:
    """The newest event by which a person changed the incident or decided about it."""
    changes = Event.objects.filter(incident=incident, user__isnull=False)
    return changes.exclude(verb__startswith="evidence.").order_by("-id").first()


def latest_change() -> tuple[int, datetime | None]:
    """The newest event and the newest change of any incident: same values, same desk."""
    newest = Event.objects.aggregate(found=Max("id"))["found"] or 0
    return newest, Incident.objects.aggregate(found=Max("updated_at"))["found"]


def similar_incidents(incident: Incident, fault: str) -> QuerySet[Incident]:
    """Other incidents whose newest answer names the same fault first, newest first."""
    if not fault:
        return incidents().none()
    alike = Suspect.objects.filter(diagnosis=OuterRef("answer_id"), position=1, fault=fault)
    return with_answer(incidents()).filter(Exists(alike)).exclude(pk=incident.pk)


def owners() -> list[str]:
    """Who owns jobs, by name."""
    found = Job.objects.exclude(owner="").order_by("owner").values_list("owner", flat=True)
    return list(found.distinct())


def people() -> QuerySet[User]:
    """Who can be given an incident."""
    return User.objects.filter(is_active=True).order_by("username")


def change_of(incident_id: int) -> tuple[object, ...]:
    """What tells one state of an incident's page from another."""
    newest = Event.objects.filter(incident=incident_id).aggregate(found=Max("id"))["found"]
    changed = Incident.objects.filter(pk=incident_id).values_list("updated_at", flat=True).first()
    run = Diagnosis.objects.filter(incident=incident_id).order_by("-number").first()
    return newest, changed, (run.pk, run.state, run.attempts) if run else None


def jobs_like(words: str) -> QuerySet[Job]:
    """Jobs whose name, id or owner has these words."""
    named = Q(name__icontains=words) | Q(external_id__icontains=words) | Q(owner__icontains=words)
    return jobs().filter(named)


def attempts_with_hosts(job: Job) -> QuerySet[Attempt]:
    """The attempts of one job, newest first, with how many ranks on how many hosts."""
    return attempts_of(job).annotate(
        rank_count=Count("placements"), host_count=Count("placements__host", distinct=True)
    )


def placements_by_host(attempt: Attempt) -> QuerySet[RankPlacement]:
    """Where each rank of an attempt runs, host by host."""
    found = RankPlacement.objects.filter(attempt=attempt).select_related("host")
    return found.order_by("host__normalised_name", "rank")


def accusations_of(host: Host) -> QuerySet[Suspect]:
    """Where the newest answers took a host for the cause, or possibly so, newest first."""
    newest = Diagnosis.objects.filter(
        incident=OuterRef("diagnosis__incident"), state=DiagnosisState.DONE
    )
    found = Suspect.objects.filter(
        diagnosis__incident__cluster=host.cluster_id, target_host__iexact=host.name
    ).exclude(role=SuspectRole.VICTIM)
    return (
        found.filter(diagnosis=Subquery(newest.order_by("-number").values("pk")[:1]))
        .select_related("diagnosis__incident")
        .order_by("-diagnosis__incident__opened_at")
    )


def placements_on(host: Host) -> QuerySet[Attempt]:
    """The attempts that ran on a host, newest first, with how many of their ranks did."""
    return (
        Attempt.objects.filter(placements__host=host)
        .select_related("job")
        .annotate(rank_count=Count("placements"))
        .order_by("-started_at", "-id")
    )


def events_of_host(host: Host) -> QuerySet[Event]:
    """What happened to a host, newest first."""
    return Event.objects.filter(host=host).select_related("incident").order_by("-id")
