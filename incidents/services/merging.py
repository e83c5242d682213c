"""Merging incidents into one, and taking one out again.

A merged incident keeps its own evidence, runs and timeline; the one that it is part of shows them
beside its own. Its address leads there for good.
"""

from contextlib import suppress

from django.db import transaction
from django.utils import timezone

from incidents import selectors
from incidents.choices import BatchStep, IncidentStatus, Resolution
from incidents.exceptions import InvalidInput, StaleVersion, TransitionRefused
from incidents.models import Batch, BatchItem, Incident
from incidents.roles import Actor
from incidents.services.changing import changed, for_change
from incidents.services.diagnoses import request_diagnosis
from incidents.services.events import record
from incidents.services.indexing import take_over_words
from incidents.services.life import bring_back, kept
from incidents.services.opening import graver_kind, worse_severity
from incidents.services.snoozing import note_news


@transaction.atomic
def merge(
    *,
    actor: Actor,
    incident: Incident,
    into: Incident,
    batch: Batch,
    expected_version: int | None = None,
) -> Incident:
    """Makes an incident part of another, which is as grave as both and judged anew with all files.

    `batch` is what taking it back goes by. Raises `InvalidInput` where `into` is itself part of it.
    """
    into = selectors.standing_record(into)
    if into.pk == incident.pk:
        raise InvalidInput("Choose another incident to merge it into.", field="into")
    source = for_change(actor, incident, expected_version)
    target = for_change(actor, into, None)
    before = kept(source)
    source.merged_into = target
    source.status, source.resolution = IncidentStatus.RESOLVED, Resolution.DUPLICATE
    source.resolved_at = source.resolved_at or timezone.now()
    source.snoozed_until, source.snoozed_for_news = None, False
    fields = {"into": target.pk}
    text = f"Merged into {target.reference}"
    source = changed(actor, source, "incident.merged", text, fields)
    BatchItem.objects.create(batch=batch, incident=source, before=before, version=source.version)
    _absorb(actor, target, source, batch)
    return source


def _absorb(actor: Actor, target: Incident, source: Incident, batch: Batch) -> None:
    """The target as grave as both; one event; judged with all files where there are more now."""
    item = BatchItem.objects.filter(batch=batch, incident=target).first()
    before = item.before if item else kept(target)
    target.severity = worse_severity(target.severity, source.severity)
    target.kind = graver_kind(target.kind, source.kind)
    if source.attempt_id == target.attempt_id:  # else its GPUs did not stand idle since then
        onsets = [at for at in (target.onset_at, source.onset_at) if at is not None]
        target.onset_at = min(onsets, default=None)
    text = f"{source.reference} merged into this: {source.title}"
    target = changed(actor, target, "incident.absorbed", text, {"merged": source.pk})
    BatchItem.objects.update_or_create(
        batch=batch, incident=target, defaults={"before": before, "version": target.version}
    )
    take_over_words(target, source)
    note_news(target, f"{source.reference} was merged into it")
    if target.is_open and selectors.evidence_in_use(source).exists():
        request_diagnosis(actor=actor, incident=target)


@transaction.atomic
def unmerge(*, actor: Actor, incident: Incident) -> Incident:
    """Takes an incident out of the one that it was merged into, as it stood before.

    Raises `TransitionRefused` where it is part of none, or is open again for the same thing.
    """
    part = (
        BatchItem.objects.select_related("batch")
        .filter(incident=incident, batch__step=BatchStep.MERGE, before__merged_into_id=None)
        .order_by("-id")
    )
    current = Incident.objects.select_for_update().get(pk=incident.pk)
    item = part.filter(version=current.version).first()
    if current.merged_into_id is None or item is None:
        raise TransitionRefused(f"{current.reference} is not part of another incident.")
    target = Incident.objects.get(pk=current.merged_into_id)
    text = f"Taken out of {target.reference} again"
    freed = bring_back(
        actor=actor, incident=current, before=item.before, version=item.version, text=text
    )
    _let_go(actor, target, freed, item.batch)
    return freed


def _let_go(actor: Actor, target: Incident, freed: Incident, batch: Batch) -> None:
    """The target as it was, where nothing but this merge changed it; it is judged anew."""
    record(
        actor=actor,
        verb="incident.released",
        text=f"{freed.reference} taken out of this again",
        incident=target,
        data={"released": freed.pk},
    )
    own = BatchItem.objects.filter(batch=batch, incident=target).first()
    others = Incident.objects.filter(merged_into=target, batch_items__batch=batch).exists()
    if own is not None and not others:
        text = f"As grave as before {freed.reference} was merged into it"
        with suppress(StaleVersion):  # people went on with it: what they see stays
            bring_back(
                actor=actor, incident=target, before=own.before, version=own.version, text=text
            )
    if target.is_open and selectors.evidence_in_use(freed).exists():
        request_diagnosis(actor=actor, incident=target)
