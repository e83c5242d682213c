"""Splitting an incident: files that belong to something else become an incident of their own."""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from incidents import selectors
from incidents.exceptions import InvalidInput
from incidents.models import Evidence, Incident
from incidents.models.evidence import ASIDE_FIELDS
from incidents.roles import Actor
from incidents.services import topology
from incidents.services.changing import changed, for_change
from incidents.services.diagnoses import request_diagnosis
from incidents.services.events import record
from incidents.services.indexing import index
from incidents.services.opening import OPENED


@transaction.atomic
def split(
    *,
    actor: Actor,
    incident: Incident,
    title: str,
    evidence: Sequence[Evidence] = (),
    hosts: Sequence[str] = (),
    expected_version: int | None = None,
) -> Incident:
    """A new incident with these files and hosts; both are judged anew.

    When the new one began its own answer tells. The files stay in the first one, set aside.
    Merging the new one back undoes it. Raises `InvalidInput` without a title or anything to split
    off, and for files of other incidents.
    """
    first = for_change(actor, incident, expected_version)
    _check(first, title, evidence, hosts)
    second = Incident.objects.create(
        title=title.strip()[:300],
        kind=first.kind,
        severity=first.severity,
        source=first.source,
        cluster=first.cluster,
        job=first.job,
        split_from=first,
    )
    moved = topology.hosts_named(first.cluster, hosts).values()
    second.hosts.add(*moved)
    first.hosts.remove(*moved)
    for one in evidence:
        _carry_over(actor, one, second)
    told = f"Split off from {first.reference}: {second.title}"
    data = {"split_from": first.pk, "evidence": len(evidence), "hosts": sorted(hosts)}
    record(actor=actor, verb=OPENED, text=told, incident=second, data=data)
    text = f"{second.reference} split off: {second.title}"
    first = changed(actor, first, "incident.split", text, {"split_off": second.pk})
    index(second)
    if evidence:
        request_diagnosis(actor=actor, incident=second)
        request_diagnosis(actor=actor, incident=first)
    return second


def _check(first: Incident, title: str, evidence: Sequence[Evidence], hosts: Sequence[str]) -> None:
    if not title.strip():
        raise InvalidInput("The new incident needs a title.", field="title")
    if not evidence and not hosts:
        raise InvalidInput("Choose the files or hosts that belong to it.", field="evidence")
    own = set(selectors.evidence_in_use(first).values_list("pk", flat=True))
    if foreign := [one for one in evidence if one.pk not in own]:
        raise InvalidInput(f"{foreign[0]} is not in use here.", field="evidence")


def _carry_over(actor: Actor, file: Evidence, second: Incident) -> None:
    """The same bytes under the new incident; in the first one the file is set aside."""
    Evidence.objects.create(
        incident=second,
        blob=file.blob,
        name=file.name,
        kind=file.kind,
        declared_kind=file.declared_kind,
        host=file.host,
        rank=file.rank,
        job_label=file.job_label,
        uploaded_by=file.uploaded_by,
        source=file.source,
        uploaded_at=file.uploaded_at,
    )
    file.set_aside_at, file.set_aside_by = timezone.now(), actor.label
    file.set_aside_reason = f"split off into {second.reference}"
    file.save(update_fields=ASIDE_FIELDS)
