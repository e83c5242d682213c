"""The life of a replay: asked for, claimed slice by slice, cancelled, ended, swept."""

from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.dispatch import Signal
from django.utils import timezone

from diagnosis.models import Replay, ReplayDifference, ReplayState, TaxonomyDraft, TaxonomyVersion
from diagnosis.services import taxonomy
from diagnosis.services.draft_rows import DraftRefused
from incidents.exceptions import InvalidInput, LeaseLost
from incidents.models import Evidence, Incident
from incidents.roles import Actor, Capability
from incidents.services.events import record

#: Sent with `replay_id` when a replay wants a worker.
replay_wanted = Signal()

MAX_DAYS = 366

_UNFINISHED = (ReplayState.QUEUED, ReplayState.RUNNING)


def incidents_since(since: datetime) -> QuerySet[Incident]:
    """Incidents with evidence that were opened since then, newest first."""
    evidence = Evidence.objects.filter(incident=OuterRef("pk"))
    found = Incident.objects.filter(opened_at__gte=since, merged_into__isnull=True)
    return found.filter(Exists(evidence)).order_by("-id")


@transaction.atomic
def request_replay(*, actor: Actor, draft: TaxonomyDraft, days: int) -> Replay:
    """A queued replay of the draft as it is now. One that judges an older state is cancelled.

    Raises `DraftRefused` where the draft changes nothing, `InvalidInput` for a bad number.
    """
    actor.require(Capability.EDIT_TAXONOMY)
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput(f"Give a number of days from 1 to {MAX_DAYS}.", field="days")
    locked = TaxonomyDraft.objects.select_for_update().get(pk=draft.pk)
    if locked.is_empty or not locked.is_open:
        raise DraftRefused("The draft changes nothing that could be replayed.")
    for older in locked.replays.filter(state__in=_UNFINISHED):
        cancel(actor=actor, replay=older)
    since = timezone.now() - timedelta(days=days)
    replay = Replay.objects.create(
        draft=locked,
        draft_revision=locked.revision,
        base=_base(actor),
        changes=locked.changes,
        site_changes=locked.site_changes,
        days=days,
        since=since,
        requested_by=actor.label,
        total=incidents_since(since).count(),
    )
    record(
        actor=actor,
        verb="taxonomy.replay_requested",
        text=f"{replay} requested: {locked.size} changed rules",
        data={"replay": replay.pk, "draft": locked.pk},
    )
    transaction.on_commit(partial(_announce, replay.pk))
    return replay


def _base(actor: Actor) -> TaxonomyVersion:
    """The rules as they are now, as a version."""
    kept = taxonomy.record_version(actor=actor, why="Found changed outside the versions")
    return kept or TaxonomyVersion.objects.latest("id")


@transaction.atomic
def cancel(*, actor: Actor, replay: Replay) -> bool:
    """Ends a replay; a worker that holds it stops at its next incident. False where it was over."""
    actor.require(Capability.EDIT_TAXONOMY)
    waiting = Replay.objects.filter(pk=replay.pk, state__in=_UNFINISHED)
    done = waiting.update(**_over(ReplayState.CANCELLED))
    if done:
        record(
            actor=actor,
            verb="taxonomy.replay_cancelled",
            text=f"{replay} cancelled",
            data={"replay": replay.pk},
        )
    return bool(done)


def claim(*, pk: int, owner: str, now: datetime | None = None) -> bool:
    """Takes a waiting replay, or one whose lease ran out, by one conditional UPDATE."""
    now = now or timezone.now()
    free = Q(state=ReplayState.QUEUED) | Q(state=ReplayState.RUNNING, lease_expires_at__lt=now)
    taken = Replay.objects.filter(free, pk=pk).update(
        state=ReplayState.RUNNING, lease_owner=owner, lease_expires_at=_lease_from(now)
    )
    Replay.objects.filter(pk=pk, started_at__isnull=True).update(started_at=now)
    return bool(taken)


def extend_lease(*, pk: int, owner: str, now: datetime | None = None) -> None:
    """The worker's sign of life. Raises `LeaseLost` where the replay is no longer its own."""
    held = _held_by(pk, owner).update(lease_expires_at=_lease_from(now or timezone.now()))
    if not held:
        raise LeaseLost(f"Replay {pk} is no longer held by {owner}.")


@transaction.atomic
def note(*, pk: int, owner: str, incident: Incident, found: ReplayDifference | None) -> None:
    """One incident is judged; keeps its difference. Raises `LeaseLost`; nothing is kept then."""
    held = _held_by(pk, owner).update(
        judged=F("judged") + 1, position=incident.pk, attempts=0,
        lease_expires_at=_lease_from(timezone.now()),
    )  # fmt: skip
    if not held:
        raise LeaseLost(f"Replay {pk} is no longer held by {owner}.")
    if found is not None:
        found.save()


def give_back(*, pk: int, owner: str) -> None:
    """Ends a slice: the replay waits for its next one behind whatever else waits."""
    back = {"state": ReplayState.QUEUED, "lease_owner": "", "lease_expires_at": None}
    if _held_by(pk, owner).update(**back, announced_at=timezone.now()):
        _announce(pk)


def finish(*, pk: int, owner: str) -> None:
    """Every incident is judged."""
    _held_by(pk, owner).update(**_over(ReplayState.DONE), total=F("judged"))


def fail(*, pk: int, owner: str, error: str) -> None:
    """Ends a replay with an error that a person understands."""
    _held_by(pk, owner).update(**_over(ReplayState.FAILED), error=error)


def requeue_expired(*, now: datetime | None = None) -> None:
    """Sweeps: gives back what dead workers held, and calls workers for what waits too long."""
    now = now or timezone.now()
    dead = Replay.objects.filter(state=ReplayState.RUNNING, lease_expires_at__lt=now)
    for replay in dead:
        _sweep(replay, now)
    late = now - timedelta(seconds=settings.DIAGNOSIS_LEASE_SECONDS)
    waiting = Replay.objects.filter(state=ReplayState.QUEUED, announced_at__lt=late)
    for pk in waiting.order_by("id").values_list("pk", flat=True):
        if waiting.filter(pk=pk).update(announced_at=now):
            _announce(pk)


def _sweep(replay: Replay, now: datetime) -> None:
    dead = Replay.objects.filter(pk=replay.pk, state=ReplayState.RUNNING, lease_expires_at__lt=now)
    if replay.attempts + 1 >= settings.DIAGNOSIS_MAX_ATTEMPTS:
        after = f"after INC-{replay.position}" if replay.position else "at the first incident"
        error = f"The worker stopped {after}, {replay.attempts + 1} times over."
        dead.update(**_over(ReplayState.FAILED), error=error)
        return
    dead.update(
        state=ReplayState.QUEUED, lease_owner="", lease_expires_at=None, attempts=F("attempts") + 1
    )


def _over(state: ReplayState) -> dict[str, object]:
    ended = {"state": state, "finished_at": timezone.now()}
    return {**ended, "lease_owner": "", "lease_expires_at": None}


def _held_by(pk: int, owner: str) -> QuerySet[Replay]:
    return Replay.objects.filter(pk=pk, state=ReplayState.RUNNING, lease_owner=owner)


def _lease_from(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.DIAGNOSIS_LEASE_SECONDS)


def _announce(pk: int) -> None:
    replay_wanted.send(sender=Replay, replay_id=pk)
