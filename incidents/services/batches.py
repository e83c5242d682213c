"""One step on several incidents, and taking it back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from incidents.choices import BatchStep, Resolution
from incidents.exceptions import InvalidInput, RecordsError, TransitionRefused
from incidents.models import Batch, BatchItem, Incident, User
from incidents.roles import Actor, Capability
from incidents.services import incidents as steps
from incidents.services.life import bring_back, kept
from incidents.services.merging import merge, unmerge
from incidents.services.snoozing import snooze

#: The most that one step changes.
MOST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be done; of the rest only what the step needs counts."""

    step: BatchStep
    assignee: User | None = None
    resolution: str = ""
    note: str = ""
    until: datetime | None = None
    into: Incident | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What became of it: the batch that can be taken back, and why some refused, by reference."""

    batch: Batch
    changed: Sequence[Incident]
    refused: Mapping[str, str]


@transaction.atomic
def change_many(
    *,
    actor: Actor,
    incidents: Sequence[Incident],
    wanted: Wanted,
    expected_version: int | None = None,
) -> Done:
    """Takes one step on each; those whose state does not allow it are named and left alone.

    `expected_version` is for a single incident. Raises `InvalidInput` where the step lacks
    something, and whatever refuses a single incident.
    """
    actor.require(Capability.RESPOND)
    if wanted.into is not None:
        others = [one for one in incidents if one.pk != wanted.into.pk]
        if incidents and not others:
            raise InvalidInput(
                f"{wanted.into.reference} cannot be merged into itself: choose another.",
                field="into",
            )
        incidents = others
    _check(incidents, wanted)
    batch = Batch.objects.create(step=wanted.step, actor=actor.label, user_id=actor.user_id)
    changed: list[Incident] = []
    refused: dict[str, str] = {}
    for incident in _locked(incidents):
        try:
            with transaction.atomic():
                changed.append(_take(actor, incident, wanted, batch, expected_version))
        except TransitionRefused as error:
            if len(incidents) == 1:
                raise
            refused[incident.reference] = str(error)
    return Done(batch, changed, refused)


@transaction.atomic
def undo(*, actor: Actor, batch: Batch) -> Done:
    """Brings back what the batch changed; what someone changed since is named and left alone.

    Raises `TransitionRefused` where it was taken back already.
    """
    actor.require(Capability.RESPOND)
    batch = Batch.objects.select_for_update().get(pk=batch.pk)
    if batch.undone_at is not None:
        raise TransitionRefused(f"{batch.undone_by} has taken this back already.")
    back: list[Incident] = []
    refused: dict[str, str] = {}
    for item in _items_to_undo(batch):
        try:
            with transaction.atomic():
                back.append(_take_back(actor, item))
        except RecordsError as error:
            refused[item.incident.reference] = str(error)
    batch.undone_at, batch.undone_by = timezone.now(), actor.label
    batch.save(update_fields=["undone_at", "undone_by"])
    return Done(batch, back, refused)


def _check(incidents: Sequence[Incident], wanted: Wanted) -> None:
    if not incidents:
        raise InvalidInput("Choose at least one incident.", field="incidents")
    if len(incidents) > MOST:
        raise InvalidInput(f"At most {MOST} incidents at once.", field="incidents")
    if wanted.step == BatchStep.RESOLVE and wanted.resolution not in Resolution.values:
        raise InvalidInput("Say how they ended: choose a resolution.", field="resolution")
    if wanted.step == BatchStep.MERGE and wanted.into is None:
        raise InvalidInput("Say which incident to merge them into.", field="into")


def _locked(incidents: Sequence[Incident]) -> Sequence[Incident]:
    """The incidents as they stand now, in their order, locked by one query."""
    rows = Incident.objects.select_for_update().filter(pk__in=[one.pk for one in incidents])
    now = {one.pk: one for one in rows.order_by("pk")}
    return [now[one.pk] for one in incidents]


def _take(
    actor: Actor, incident: Incident, wanted: Wanted, batch: Batch, expected: int | None
) -> Incident:
    if wanted.step == BatchStep.MERGE and wanted.into is not None:
        return merge(
            actor=actor, incident=incident, into=wanted.into, batch=batch, expected_version=expected
        )
    before = kept(incident)
    changed = _STEPS[wanted.step](actor, incident, wanted, expected)
    BatchItem.objects.create(batch=batch, incident=changed, before=before, version=changed.version)
    return changed


_STEPS: dict[str, Callable[[Actor, Incident, Wanted, int | None], Incident]] = {
    BatchStep.ACKNOWLEDGE: lambda actor, incident, wanted, expected: steps.acknowledge(
        actor=actor, incident=incident, expected_version=expected
    ),
    BatchStep.ASSIGN: lambda actor, incident, wanted, expected: steps.assign(
        actor=actor, incident=incident, assignee=wanted.assignee, expected_version=expected
    ),
    BatchStep.RESOLVE: lambda actor, incident, wanted, expected: steps.resolve(
        actor=actor,
        incident=incident,
        resolution=Resolution(wanted.resolution),
        note=wanted.note,
        expected_version=expected,
    ),
    BatchStep.SNOOZE: lambda actor, incident, wanted, expected: snooze(
        actor=actor, incident=incident, until=wanted.until, expected_version=expected
    ),
}


def _items_to_undo(batch: Batch) -> Sequence[BatchItem]:
    """Every item; of a merge only what was merged, which sets the other one right."""
    items = batch.items.select_related("incident").order_by("-id")
    if batch.step != BatchStep.MERGE:
        return list(items)
    return [item for item in items if item.incident.merged_into_id is not None]


def _take_back(actor: Actor, item: BatchItem) -> Incident:
    if item.batch.step == BatchStep.MERGE:
        return unmerge(actor=actor, incident=item.incident)
    return bring_back(
        actor=actor,
        incident=item.incident,
        before=item.before,
        version=item.version,
        text=f"Taken back: {item.batch.get_step_display().lower()} by {item.batch.actor}",
    )
