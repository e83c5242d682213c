"""Opening incidents, and which report joins which."""

from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from incidents import selectors
from incidents.choices import OPEN_STATUSES, IncidentKind, Severity
from incidents.exceptions import InvalidInput
from incidents.models import Attempt, Incident, Job
from incidents.roles import Actor, Capability
from incidents.services import topology
from incidents.services.events import record
from incidents.services.idle import freed_at, idle_gpus
from incidents.services.indexing import index
from incidents.services.snoozing import note_news

#: A later word on one incident may only make it graver: a slowdown becomes a hang, a hang a crash.
_GRAVITY = (
    IncidentKind.NONE,
    IncidentKind.CHECK,
    IncidentKind.DEGRADATION,
    IncidentKind.HANG,
    IncidentKind.CRASH,
)
_SEVERITIES = tuple(Severity)
#: The event of an opening; its actor is who opened it.
OPENED = "incident.opened"
#: The event of a correction; it names the fields that a person chose.
CORRECTED = "incident.corrected"
#: What an incident is called until its job or its first answer gives it a name.
UNTITLED = "Untitled incident"


def graver_kind(first: str, second: str) -> IncidentKind:
    """The graver of two kinds."""
    return max(IncidentKind(first), IncidentKind(second), key=_GRAVITY.index)


def kind_after(incident: Incident, kind: str) -> IncidentKind:
    """The kind after a further word on it: the graver one, unless a person corrected it."""
    corrected = incident.events.filter(verb=CORRECTED, data__has_key="kind")
    if corrected.exists():
        return IncidentKind(incident.kind)
    return graver_kind(incident.kind, kind)


def worse_severity(first: str, second: str) -> Severity:
    """The worse of two severities."""
    return min(Severity(first), Severity(second), key=_SEVERITIES.index)


def open_incident(
    *,
    actor: Actor,
    title: str,
    kind: IncidentKind = IncidentKind.NONE,
    severity: Severity = Severity.MEDIUM,
    source: str = "",
    dedup_key: str = "",
    job: Job | None = None,
    attempt: Attempt | None = None,
    hosts: Sequence[str] = (),
    cluster: str = "",
    onset_at: datetime | None = None,
    ended_at: datetime | None = None,
    into: Incident | None = None,
) -> tuple[Incident, bool]:
    """The incident that this report belongs to, and whether it was opened by it.

    A report with the dedup key of an open incident joins that; one without a key joins the open
    incident of its attempt, unless it was over (`ended_at`) before that began. Where `into` is
    given and still open, the report joins that and nothing else. `hosts` are names,
    registered in the job's cluster or in `cluster` where they are new; without either they are of
    the one cluster that knows all of them.
    """
    actor.require(Capability.RESPOND)
    if not title.strip():
        raise InvalidInput("An incident needs a title.", field="title")
    job = attempt.job if attempt else job
    if job is not None:
        actor.reach.require_cluster(job.cluster.name)
    actor.reach.require_owner(job.owner if job else "")
    report = Incident(
        cluster=job.cluster if job else topology.cluster_of(cluster, hosts),
        title=title.strip()[:300],
        kind=kind,
        severity=severity,
        source=source or actor.source,
        dedup_key=dedup_key.strip(),
        job=job,
        attempt=attempt,
        onset_at=onset_at,
    )
    try:
        with transaction.atomic():
            return _join_or_open(actor, report, hosts, ended_at, into)
    except IntegrityError:
        # Another process opened an incident with this key in the same moment: join that.
        with transaction.atomic():
            return _join_or_open(actor, report, hosts, ended_at, into)


def _join_or_open(
    actor: Actor,
    report: Incident,
    hosts: Sequence[str],
    ended_at: datetime | None,
    into: Incident | None,
) -> tuple[Incident, bool]:
    known = _still_open(into) or _open_incident_for(report, ended_at)
    standing = (known.severity, known.kind) if known else None
    incident = _join(known, report) if known else _open(report)
    named = topology.hosts_named(incident.cluster, hosts)
    incident.hosts.add(*named.values())
    did, verb = ("Joined by", "incident.joined") if known else ("Opened:", OPENED)
    record(
        actor=actor,
        verb=verb,
        text=f"{did} {report.title}",
        incident=incident,
        data={"kind": report.kind, "severity": report.severity, "hosts": sorted(named)},
    )
    index(incident)
    if known is not None:
        graver = (incident.severity, incident.kind) != standing
        note_news(incident, f"joined by {report.title}", graver=graver)
    return incident, known is None


def _still_open(incident: Incident | None) -> Incident | None:
    """The incident, locked, if nobody has resolved it meanwhile."""
    if incident is None:
        return None
    rows = Incident.objects.select_for_update().filter(status__in=OPEN_STATUSES)
    return rows.filter(pk=incident.pk).first()


def _open_incident_for(report: Incident, ended_at: datetime | None) -> Incident | None:
    """The open incident that a report belongs to, locked; the attempt is the lock without a key."""
    if report.dedup_key:
        known = open_with_key(report.dedup_key).select_for_update().first()
        return known or _part_of(Incident.objects.filter(dedup_key=report.dedup_key))
    if report.attempt is None:
        return None
    Attempt.objects.select_for_update().get(pk=report.attempt.pk)
    for known in selectors.open_incidents_of(report.attempt).select_for_update(of=("self",)):
        if ended_at is None or ended_at >= known.began_at:
            return known
    return None


def _part_of(incidents: QuerySet[Incident]) -> Incident | None:
    """The open incident that the newest of these was merged into, locked."""
    newest = incidents.order_by("-id").first()
    if newest is None or newest.merged_into is None:
        return None
    standing = selectors.standing_record(newest)
    return Incident.objects.select_for_update().get(pk=standing.pk) if standing.is_open else None


def open_with_key(key: str) -> QuerySet[Incident]:
    """The open incident with this dedup key, if there is one."""
    return Incident.objects.filter(dedup_key=key, status__in=OPEN_STATUSES)


def _open(report: Incident) -> Incident:
    report.pk = None
    if report.attempt is not None:
        bind(report, report.attempt)
    report.save(force_insert=True)
    return report


def bind(incident: Incident, attempt: Attempt) -> None:
    """Makes an incident one of this attempt, whose GPUs stand idle for it until they are freed."""
    incident.attempt = attempt
    incident.gpu_count = idle_gpus(incident)
    incident.gpus_freed_at = freed_at(attempt)


def _join(known: Incident, report: Incident) -> Incident:
    """Takes over what a further report adds; what is known stays."""
    kind_before = known.kind
    known.kind = kind_after(known, report.kind)
    known.severity = worse_severity(known.severity, report.severity)
    if report.onset_at is not None:
        known.onset_at = min(report.onset_at, known.onset_at or report.onset_at)
    if known.attempt is None and report.attempt is not None:
        bind(known, report.attempt)
    elif known.kind != kind_before:
        known.gpu_count = idle_gpus(known)
    known.job = known.job or report.job
    known.save()
    return known
