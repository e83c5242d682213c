"""What the pages of one incident, job or host read beside the records themselves."""

from collections.abc import Mapping, Sequence

from django.db.models import Case, Count, Exists, Max, OuterRef, Q, QuerySet, Subquery, When

from incidents.choices import (
    OPEN_STATUSES,
    DiagnosisState,
    IncidentKind,
    JobState,
    SuspectRole,
    TargetKind,
)
from incidents.models import (
    Attempt,
    Diagnosis,
    Event,
    Execution,
    Host,
    Incident,
    Job,
    RankPlacement,
    Suspect,
    TicketLink,
)
from incidents.selectors.merged import family_of
from incidents.selectors.records import attempts_of, jobs

#: What a host is blamed by: itself or a part of it, not the code that ran on it.
_PARTS_OF_HOST = (
    TargetKind.HOST,
    TargetKind.GPU,
    TargetKind.NIC,
    TargetKind.LINK,
    TargetKind.RANK,
)
#: Whom an answer names as the cause: culprits, and a first suspect more likely than all others.
_ACCUSED = Q(role=SuspectRole.CULPRIT) | Q(role=SuspectRole.POSSIBLE, position=1, score__gte=0.5)


def last_change(incident: Incident) -> Event | None:
    """The newest event by which a person changed the incident or decided about it."""
    changes = Event.objects.filter(incident=incident, user__isnull=False)
    return changes.exclude(verb__startswith="evidence.").order_by("-id").first()


def changes_since(incident: Incident, version: int) -> QuerySet[Event]:
    """The changes that people made after this version of an incident, in order."""
    return Event.objects.filter(incident=incident, data__version__gt=version).order_by("id")


def change_of(incident_id: int) -> tuple[object, ...]:
    """What tells one state of an incident's page from another."""
    own = family_of(Incident(pk=incident_id))
    newest = Event.objects.filter(incident__in=own).aggregate(found=Max("id"))["found"]
    changed = Incident.objects.filter(pk=incident_id).values_list("updated_at", flat=True).first()
    run = Diagnosis.objects.filter(incident=incident_id).order_by("-number").first()
    commands = Execution.objects.filter(recommendation__diagnosis__incident=incident_id)
    tickets = TicketLink.objects.filter(incident__in=own, connector__isnull=False)
    return (
        newest,
        changed,
        (run.pk, run.state, run.attempts) if run else None,
        list(commands.order_by("id").values_list("id", "state")),
        list(tickets.order_by("id").values_list("id", "state", "status", "error")),
    )


def jobs_like(words: str) -> QuerySet[Job]:
    """Jobs whose name, id or owner has these words."""
    named = Q(name__icontains=words) | Q(external_id__icontains=words) | Q(owner__icontains=words)
    return jobs().filter(named)


def trouble_of(jobs: Sequence[Job]) -> Mapping[int, Incident]:
    """By job, the worst open incident that stands on its running attempt: a stop before slowness,
    then the oldest. One query however many jobs.
    """
    found = Incident.objects.filter(
        job__in=[one.pk for one in jobs],
        status__in=OPEN_STATUSES,
        merged_into__isnull=True,
        attempt__ended_at__isnull=True,
        attempt__outcome=JobState.RUNNING,
    )
    slow = Case(When(kind=IncidentKind.DEGRADATION, then=1), default=0)
    trouble: dict[int, Incident] = {}
    for one in found.order_by(slow, "id"):
        trouble.setdefault(one.job_id or 0, one)
    return trouble


def attempts_with_hosts(job: Job) -> QuerySet[Attempt]:
    """The attempts of one job, newest first, with how many ranks on how many hosts."""
    return attempts_of(job).annotate(
        rank_count=Count("placements"), host_count=Count("placements__host", distinct=True)
    )


def placements_by_host(attempt: Attempt) -> QuerySet[RankPlacement]:
    """Where each rank of an attempt runs, by pod, ToR group and host."""
    found = RankPlacement.objects.filter(attempt=attempt).select_related("host")
    return found.order_by("host__pod", "host__tor", "host__normalised_name", "host", "rank")


def accused_hosts(answer: Diagnosis) -> list[str]:
    """The hosts that an answer names as the cause, themselves or by a part, by name."""
    named = answer.suspects.filter(_ACCUSED, target_kind__in=_PARTS_OF_HOST)
    return list(named.exclude(target_host="").values_list("target_host", flat=True).distinct())


def accusations_of(host: Host) -> QuerySet[Suspect]:
    """The strongest accusation of a host in each newest answer, newest first.

    A mere possibility names nobody as the cause.
    """
    newest = Diagnosis.objects.filter(
        incident=OuterRef("diagnosis__incident"), state=DiagnosisState.DONE
    )
    of_host = Suspect.objects.filter(
        _ACCUSED, target_host__iexact=host.name, target_kind__in=_PARTS_OF_HOST
    )
    stronger = of_host.filter(diagnosis=OuterRef("diagnosis"), position__lt=OuterRef("position"))
    # Whom an answer accuses belongs to its incident: there are few of these to look through.
    found = of_host.filter(~Exists(stronger), diagnosis__incident__hosts=host)
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
