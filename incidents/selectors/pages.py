"""What the pages of one incident, job or host read beside the records themselves."""

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery

from incidents.choices import DiagnosisState, SuspectRole, TargetKind
from incidents.models import (
    Attempt,
    Diagnosis,
    Event,
    Host,
    Incident,
    Job,
    RankPlacement,
    Suspect,
)
from incidents.selectors.desk import with_answer
from incidents.selectors.records import attempts_of, incidents, jobs

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


def similar_incidents(incident: Incident, fault: str) -> QuerySet[Incident]:
    """Other incidents whose newest answer names the same fault first, newest first."""
    if not fault:
        return incidents().none()
    alike = Suspect.objects.filter(diagnosis=OuterRef("answer_id"), position=1, fault=fault)
    return with_answer(incidents()).filter(Exists(alike)).exclude(pk=incident.pk)


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
    found = of_host.filter(~Exists(stronger), diagnosis__incident__cluster=host.cluster_id)
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
