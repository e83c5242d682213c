"""The life of one run: requested, claimed under a lease, kept alive, ended, swept."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from incidents import selectors
from incidents.choices import DiagnosisState
from incidents.exceptions import LeaseLost
from incidents.models import Diagnosis, Incident
from incidents.roles import Actor, Capability
from incidents.services.events import record
from incidents.services.run_state import show_state
from incidents.services.store_result import store_result
from incidents.signals import diagnosis_wanted

__all__ = [
    "claim",
    "extend_lease",
    "fail",
    "request_diagnosis",
    "requeue_expired",
    "start_own_run",
    "store_result",
]


@transaction.atomic
def request_diagnosis(*, actor: Actor, incident: Incident) -> Diagnosis:
    """A queued run of the incident's evidence as it is when a worker takes it up.

    A run that is already queued is the one; a running one goes on beside the new one. What was
    merged is judged with the incident that it is part of.
    """
    actor.require(Capability.RESPOND)
    incident = selectors.standing_record(incident)
    locked = Incident.objects.select_for_update().get(pk=incident.pk)
    queued = locked.diagnoses.filter(state=DiagnosisState.QUEUED).first()
    if queued is not None:
        return queued
    last = locked.diagnoses.order_by("-number").values_list("number", flat=True).first() or 0
    diagnosis = Diagnosis.objects.create(incident=locked, number=last + 1, requested_by=actor.label)
    show_state(diagnosis, DiagnosisState.QUEUED)
    record(
        actor=actor,
        verb="diagnosis.requested",
        text=f"Diagnosis {diagnosis.number} requested",
        incident=locked,
        data={"diagnosis": diagnosis.pk},
    )
    transaction.on_commit(partial(_announce, diagnosis.pk))
    return diagnosis


@transaction.atomic
def start_own_run(*, actor: Actor, incident: Incident, owner: str) -> Diagnosis:
    """A run that the caller has the answer to already: held by `owner`, never in the queue.

    To be ended by `store_result` in the same transaction.
    """
    actor.require(Capability.RESPOND)
    locked = Incident.objects.select_for_update().get(pk=incident.pk)
    last = locked.diagnoses.order_by("-number").values_list("number", flat=True).first() or 0
    now = timezone.now()
    return Diagnosis.objects.create(
        incident=locked,
        number=last + 1,
        requested_by=actor.label,
        state=DiagnosisState.RUNNING,
        lease_owner=owner,
        lease_expires_at=_lease_from(now),
        started_at=now,
        attempts=1,
    )


@transaction.atomic
def claim(*, pk: int, owner: str, now: datetime | None = None) -> bool:
    """Takes a waiting run for `owner`, or one whose lease ran out; False where there is none.

    One conditional UPDATE, so that of two workers only one gets it. No event, except where the
    run is taken from a worker that was lost: else what a person sees of it is the run's state.
    """
    now = now or timezone.now()
    lost = Diagnosis.objects.filter(pk=pk, state=DiagnosisState.RUNNING).exists()
    free = Q(state=DiagnosisState.QUEUED) | Q(
        state=DiagnosisState.RUNNING, lease_expires_at__lt=now
    )
    taken = Diagnosis.objects.filter(
        free, pk=pk, attempts__lt=settings.DIAGNOSIS_MAX_ATTEMPTS
    ).update(
        state=DiagnosisState.RUNNING,
        lease_owner=owner,
        lease_expires_at=_lease_from(now),
        started_at=now,
        attempts=F("attempts") + 1,
    )
    if taken:
        diagnosis = Diagnosis.objects.select_related("incident").get(pk=pk)
        show_state(diagnosis, DiagnosisState.RUNNING)
        if lost:
            _note_loss(diagnosis)
    return bool(taken)


def extend_lease(*, pk: int, owner: str, now: datetime | None = None) -> None:
    """The worker's sign of life. Raises `LeaseLost` where the run is no longer its own."""
    held = _held_by(pk, owner).update(lease_expires_at=_lease_from(now or timezone.now()))
    if not held:
        raise LeaseLost(f"Diagnosis {pk} is no longer held by {owner}.")


@transaction.atomic
def fail(*, pk: int, owner: str, error: str) -> None:
    """Ends a run with an error that a person understands. Raises `LeaseLost`."""
    if not _held_by(pk, owner).update(**_failure(error)):
        raise LeaseLost(f"Diagnosis {pk} is no longer held by {owner}.")
    _note_failure(Diagnosis.objects.get(pk=pk))


def requeue_expired(*, now: datetime | None = None) -> Sequence[int]:
    """Sweeps: gives back what dead workers held, and calls workers again for what waits too long.

    A run that has been started `DIAGNOSIS_MAX_ATTEMPTS` times is failed instead. Returns the keys
    of the runs that want a worker; the signal has been sent for each.
    """
    now = now or timezone.now()
    for diagnosis in selectors.runs_with_expired_lease(now):
        _give_back(diagnosis, now)
    late = now - timedelta(seconds=settings.DIAGNOSIS_LEASE_SECONDS)
    waiting = Diagnosis.objects.filter(state=DiagnosisState.QUEUED, announced_at__lt=late)
    wanted = []
    for pk in waiting.order_by("id").values_list("pk", flat=True):
        if waiting.filter(pk=pk).update(announced_at=now):
            _announce(pk)
            wanted.append(pk)
    return wanted


@transaction.atomic
def _give_back(diagnosis: Diagnosis, now: datetime) -> None:
    """Back into the queue, or failed where that makes no sense; nothing where it has moved on."""
    expired = Diagnosis.objects.filter(
        pk=diagnosis.pk, state=DiagnosisState.RUNNING, lease_expires_at__lt=now
    )
    newer = diagnosis.incident.diagnoses.filter(state=DiagnosisState.QUEUED).first()
    if diagnosis.attempts >= settings.DIAGNOSIS_MAX_ATTEMPTS:
        error = f"The worker stopped in the middle, {diagnosis.attempts} times over."
    elif newer is not None:
        error = f"The worker stopped in the middle; diagnosis {newer.number} takes its place."
    else:
        if expired.update(state=DiagnosisState.QUEUED, lease_owner="", lease_expires_at=None):
            show_state(diagnosis, DiagnosisState.QUEUED)
            _note_loss(diagnosis)
        return
    if expired.update(**_failure(error)):
        _note_failure(Diagnosis.objects.get(pk=diagnosis.pk))


def _held_by(pk: int, owner: str) -> QuerySet[Diagnosis]:
    return Diagnosis.objects.filter(pk=pk, state=DiagnosisState.RUNNING, lease_owner=owner)


def _lease_from(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.DIAGNOSIS_LEASE_SECONDS)


def _failure(error: str) -> dict[str, object]:
    return {
        "state": DiagnosisState.FAILED,
        "error": error,
        "finished_at": timezone.now(),
        "lease_owner": "",
        "lease_expires_at": None,
    }


def _note_failure(diagnosis: Diagnosis) -> None:
    show_state(diagnosis, DiagnosisState.FAILED)
    record(
        actor=Actor.system(),
        verb="diagnosis.failed",
        text=f"Diagnosis {diagnosis.number} failed: {diagnosis.error}",
        incident=diagnosis.incident,
        data={"diagnosis": diagnosis.pk},
    )


def _note_loss(diagnosis: Diagnosis) -> None:
    record(
        actor=Actor.system(),
        verb="diagnosis.retried",
        text=f"Diagnosis {diagnosis.number}: the worker was lost in the middle, tried again",
        incident=diagnosis.incident,
        data={"diagnosis": diagnosis.pk},
    )


def _announce(pk: int) -> None:
    diagnosis_wanted.send(sender=Diagnosis, diagnosis_id=pk)
