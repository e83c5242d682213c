"""Correcting what was said of an incident when it was opened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from incidents.choices import IncidentKind, Severity
from incidents.exceptions import InvalidInput
from incidents.models import Attempt, Incident, Job
from incidents.reach import current
from incidents.roles import Actor
from incidents.services.changing import changed, for_change
from incidents.services.idle import idle_gpus
from incidents.services.indexing import index
from incidents.services.opening import CORRECTED, bind
from incidents.services.topology import hosts_named


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What is corrected; None leaves what is there. An attempt brings its job along."""

    title: str | None = None
    kind: IncidentKind | None = None
    severity: Severity | None = None
    job: Job | None = None
    attempt: Attempt | None = None


@transaction.atomic
def correct(
    *,
    actor: Actor,
    incident: Incident,
    correction: Correction,
    expected_version: int | None = None,
) -> Incident:
    """The incident as it should have been opened; nothing happens where it is so already.

    A kind that a person chose stays, whatever a later diagnosis or report says. Raises
    `InvalidInput` for an empty title, and for an attempt of another job than the one given.
    """
    incident = for_change(actor, incident, expected_version)
    before = _facts(incident)
    _apply(incident, correction)
    after = _facts(incident)
    fields = {name: after[name] for name in after if after[name] != before[name]}
    if not fields:
        return incident
    told = "; ".join(f"{name}: {before[name]} → {after[name]}" for name in fields)
    incident = changed(actor, incident, CORRECTED, f"Corrected {told}", fields)
    index(incident)
    return incident


@transaction.atomic
def add_hosts(
    *,
    actor: Actor,
    incident: Incident,
    hosts: Sequence[str],
    expected_version: int | None = None,
) -> Incident:
    """The incident with these hosts too, registered where new; none is taken away.

    Nothing happens where it has all of them.
    """
    incident = for_change(actor, incident, expected_version)
    named = hosts_named(incident.cluster, hosts)
    known = set(incident.hosts.values_list("normalised_name", flat=True))
    new = sorted(named.keys() - known)
    if not new:
        return incident
    incident.hosts.add(*(named[name] for name in new))
    incident = changed(actor, incident, CORRECTED, f"Added {', '.join(new)}", {"hosts": new})
    index(incident)
    return incident


def _apply(incident: Incident, correction: Correction) -> None:
    if correction.title is not None:
        incident.title = correction.title.strip()[:300]
        if not incident.title:
            raise InvalidInput("An incident needs a title.", field="title")
    kind = correction.kind or incident.kind
    if kind != incident.kind:
        incident.kind = kind
        incident.gpu_count = idle_gpus(incident)
    incident.severity = correction.severity or incident.severity
    _move(incident, correction.job, correction.attempt)


def _move(incident: Incident, job: Job | None, attempt: Attempt | None) -> None:
    """Makes it an incident of another attempt or job, and of the cluster that runs it."""
    if attempt is not None:
        if job is not None and attempt.job_id != job.pk:
            raise InvalidInput("It is an attempt of another job.", field="attempt")
        job = attempt.job
    if job is None:
        return
    current().require_cluster(job.cluster.name)
    current().require_owner(job.owner)
    if attempt is not None and attempt != incident.attempt:
        bind(incident, attempt)
    elif attempt is None and incident.attempt and incident.attempt.job_id != job.pk:
        incident.attempt, incident.gpu_count, incident.gpus_freed_at = None, 0, None
    incident.job, incident.cluster = job, job.cluster


def _facts(incident: Incident) -> Mapping[str, str]:
    """What can be corrected, as the timeline tells it."""
    return {
        "title": incident.title,
        "kind": incident.get_kind_display().lower(),
        "severity": incident.get_severity_display().lower(),
        "job": str(incident.job or "none"),
        "attempt": str(incident.attempt.number if incident.attempt else "none"),
    }
