"""Opening incidents, and what people do with them."""

from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from incidents import selectors
from incidents.choices import IncidentKind, IncidentStatus, Resolution, Severity
from incidents.exceptions import InvalidInput, StaleVersion, TransitionRefused
from incidents.models import Attempt, Incident, Job, User
from incidents.roles import Actor, Capability
from incidents.services import topology
from incidents.services.events import record
from incidents.services.transitions import Step, status_after

#: A later word on one incident may only make it graver: a slowdown becomes a hang, a hang a crash.
_GRAVITY = (
    IncidentKind.NONE,
    IncidentKind.CHECK,
    IncidentKind.DEGRADATION,
    IncidentKind.HANG,
    IncidentKind.CRASH,
)
_SEVERITIES = tuple(Severity)


def graver_kind(first: str, second: str) -> IncidentKind:
    """The graver of two kinds."""
    return max(IncidentKind(first), IncidentKind(second), key=_GRAVITY.index)


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
) -> tuple[Incident, bool]:
    """The incident that this report belongs to, and whether it was opened by it.

    A report with the dedup key of an open incident joins that; one without a key joins the open
    incident of its attempt, unless it was over (`ended_at`) before that began. `hosts` are names,
    registered in the job's cluster or in `cluster` where they are new.
    """
    actor.require(Capability.RESPOND)
    if not title.strip():
        raise InvalidInput("An incident needs a title.", field="title")
    job = attempt.job if attempt else job
    report = Incident(
        cluster=job.cluster if job else topology.cluster_named(cluster),
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
            return _join_or_open(actor, report, hosts, ended_at)
    except IntegrityError:
        # Another process opened an incident with this key in the same moment: join that.
        with transaction.atomic():
            return _join_or_open(actor, report, hosts, ended_at)


@transaction.atomic
def acknowledge(
    *, actor: Actor, incident: Incident, expected_version: int | None = None
) -> Incident:
    """Someone looks after it; an incident that nobody has becomes theirs."""
    incident = _for_change(actor, incident, expected_version)
    incident.status = status_after(Step.ACKNOWLEDGE, incident.status)
    incident.acknowledged_at = timezone.now()
    if incident.assignee_id is None:
        incident.assignee_id = actor.user_id
    return _changed(actor, incident, "incident.acknowledged", f"Acknowledged by {actor.label}")


@transaction.atomic
def assign(
    *,
    actor: Actor,
    incident: Incident,
    assignee: User | None,
    expected_version: int | None = None,
) -> Incident:
    """Gives an incident to someone, or to nobody. Raises `InvalidInput` for someone inactive."""
    incident = _for_change(actor, incident, expected_version)
    if assignee is not None and not assignee.is_active:
        raise InvalidInput(f"{assignee} is not active.", field="assignee")
    incident.assignee = assignee
    whom = assignee.get_username() if assignee else "nobody"
    return _changed(actor, incident, "incident.assigned", f"Assigned to {whom}")


@transaction.atomic
def mitigate(
    *, actor: Actor, incident: Incident, note: str = "", expected_version: int | None = None
) -> Incident:
    """The damage is stopped; the cause may not be mended yet."""
    incident = _for_change(actor, incident, expected_version)
    incident.status = status_after(Step.MITIGATE, incident.status)
    incident.mitigated_at = timezone.now()
    return _changed(actor, incident, "incident.mitigated", _with_note("Mitigated", note))


@transaction.atomic
def resolve(
    *,
    actor: Actor,
    incident: Incident,
    resolution: Resolution,
    note: str = "",
    expected_version: int | None = None,
) -> Incident:
    """Ends an incident with a resolution."""
    incident = _for_change(actor, incident, expected_version)
    if resolution not in Resolution.values:
        raise InvalidInput("Say how it was resolved.", field="resolution")
    incident.status = status_after(Step.RESOLVE, incident.status)
    incident.resolved_at = timezone.now()
    incident.resolution, incident.resolution_note = resolution, note.strip()
    text = _with_note(f"Resolved: {Resolution(resolution).label.lower()}", note)
    return _changed(actor, incident, "incident.resolved", text)


@transaction.atomic
def reopen(
    *, actor: Actor, incident: Incident, note: str = "", expected_version: int | None = None
) -> Incident:
    """Takes an incident up again. Refused while another one with its dedup key is open."""
    incident = _for_change(actor, incident, expected_version)
    incident.status = status_after(Step.REOPEN, incident.status)
    key = incident.dedup_key
    if key and (other := _open_with_key(key).exclude(pk=incident.pk).first()):
        raise TransitionRefused(f"{other.reference} is open for the same thing; go on there.")
    incident.acknowledged_at = incident.mitigated_at = incident.resolved_at = None
    incident.resolution = incident.resolution_note = ""
    return _changed(actor, incident, "incident.reopened", _with_note("Reopened", note))


@transaction.atomic
def add_note(*, actor: Actor, incident: Incident, text: str) -> None:
    """Adds a note to the timeline. Raises `InvalidInput` where it is empty."""
    actor.require(Capability.RESPOND)
    if not text.strip():
        raise InvalidInput("The note is empty.", field="text")
    record(actor=actor, verb="incident.noted", text=text.strip(), incident=incident)


def _join_or_open(
    actor: Actor,
    report: Incident,
    hosts: Sequence[str],
    ended_at: datetime | None,
) -> tuple[Incident, bool]:
    known = _open_incident_for(report, ended_at)
    incident = _join(known, report) if known else _open(report)
    named = topology.hosts_named(incident.cluster, hosts)
    incident.hosts.add(*named.values())
    did, verb = ("Joined by", "incident.joined") if known else ("Opened:", "incident.opened")
    record(
        actor=actor,
        verb=verb,
        text=f"{did} {report.title}",
        incident=incident,
        data={"kind": report.kind, "severity": report.severity, "hosts": sorted(named)},
    )
    return incident, known is None


def _open_incident_for(report: Incident, ended_at: datetime | None) -> Incident | None:
    """The open incident that a report belongs to, locked; the attempt is the lock without a key."""
    if report.dedup_key:
        return _open_with_key(report.dedup_key).select_for_update().first()
    if report.attempt is None:
        return None
    Attempt.objects.select_for_update().get(pk=report.attempt.pk)
    for known in selectors.open_incidents_of(report.attempt).select_for_update(of=("self",)):
        if ended_at is None or ended_at >= known.began_at:
            return known
    return None


def _open_with_key(key: str) -> QuerySet[Incident]:
    return Incident.objects.filter(dedup_key=key).exclude(status=IncidentStatus.RESOLVED)


def _open(report: Incident) -> Incident:
    report.pk = None
    if report.attempt is not None:
        report.gpu_count = report.attempt.placements.count()
    report.save(force_insert=True)
    return report


def _join(known: Incident, report: Incident) -> Incident:
    """Takes over what a further report adds; what is known stays."""
    known.kind = graver_kind(known.kind, report.kind)
    known.severity = worse_severity(known.severity, report.severity)
    if report.onset_at is not None:
        known.onset_at = min(report.onset_at, known.onset_at or report.onset_at)
    if known.attempt is None and report.attempt is not None:
        known.attempt = report.attempt
        known.gpu_count = report.attempt.placements.count()
    known.job = known.job or report.job
    known.save()
    return known


def _for_change(actor: Actor, incident: Incident, expected_version: int | None) -> Incident:
    """The incident as it stands now, locked. Raises `NotAllowed` or `StaleVersion`."""
    actor.require(Capability.RESPOND)
    current = Incident.objects.select_for_update().get(pk=incident.pk)
    if expected_version is not None and current.version != expected_version:
        raise StaleVersion(expected=expected_version, current=current.version)
    return current


def _changed(actor: Actor, incident: Incident, verb: str, text: str) -> Incident:
    incident.version += 1
    incident.save()
    data = {"status": incident.status, "version": incident.version}
    record(actor=actor, verb=verb, text=text, incident=incident, data=data)
    return incident


def _with_note(text: str, note: str) -> str:
    return f"{text}: {note.strip()}" if note.strip() else text
