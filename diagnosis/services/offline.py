"""Offline diagnoses: planned on the hosts' registered places, answered by runners or by hand."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from diagnosis.checks.group_test import GroupResult
from diagnosis.models import OfflineDiagnosis, RunState
from diagnosis.offline.history import Answered, BadAnswer
from diagnosis.services import busy_hosts, check_tasks, offline_tasks
from diagnosis.services.offline_plan import PLANNER, layout_of, plan, round_of
from incidents.exceptions import InvalidInput, TransitionRefused
from incidents.models import Host, Incident
from incidents.roles import Actor, Capability
from incidents.services import topology
from incidents.services.events import record

#: Sent with `offline_id` when a round may be complete.
round_may_be_over = Signal()


@transaction.atomic
def start(
    *,
    actor: Actor,
    names: Sequence[str],
    cluster: str = "",
    incident: Incident | None = None,
    suite: str = "",
    item: str = "",
    confirm: bool = False,
) -> OfflineDiagnosis:
    """Plans the first round on these hosts. With `suite` and `item` the runners on the hosts run
    that item on every group, and the plan goes on by itself.

    Raises `InvalidInput`, and `HostsInService` where hosts are not out of service or run a job,
    which takes a second word (`confirm`).
    """
    actor.require(Capability.OPERATE)
    version = offline_tasks.group_test(suite, item)[0] if suite or item else None
    place = incident.cluster if incident else topology.cluster_of(cluster, names)
    found = topology.known_hosts(place, names)
    if not found:
        raise InvalidInput("Name at least one host.", field="hosts")
    busy = busy_hosts.require_free(found.values(), confirmed=confirm)
    diagnosis = OfflineDiagnosis.objects.create(
        cluster=place,
        incident=incident,
        requested_by=actor.label,
        suite=version,
        item=item if version else "",
        topology=[_place(host) for host in found.values()],
    )
    plan(diagnosis)
    record(
        actor=actor,
        verb="offline.started",
        text=f"{diagnosis} of {len(found)} hosts"
        + (f", {len(busy.hosts)} of them in service, which was confirmed" if busy.hosts else ""),
        incident=incident,
        data={
            "offline": diagnosis.pk,
            "hosts": sorted(found),
            "in_service": busy.hosts,
            "attempts": [one.pk for one in busy.jobs],
        },
    )
    offline_tasks.open_round(diagnosis)
    return diagnosis


def _place(host: Host) -> dict[str, Any]:
    return {"name": host.name, "pod": host.pod, "tor": [host.tor] if host.tor else []}


@transaction.atomic
def answer(
    *, actor: Actor, diagnosis: OfflineDiagnosis, number: int, results: Sequence[bool | None]
) -> OfflineDiagnosis:
    """Takes the results of round `number` (from 1) and plans the next, or gives the verdict. What
    runners still do for the round is given up.

    Raises `TransitionRefused` for a round that is not open, `InvalidInput` for bad results.
    """
    actor.require(Capability.OPERATE)
    diagnosis = _locked(diagnosis.pk)
    if diagnosis.is_over or number != len(diagnosis.rounds):
        raise TransitionRefused(f"Round {number} is not the open one; reload the page.")
    try:
        Answered.of(round_of(layout_of(diagnosis), diagnosis.rounds[-1]), results)
    except BadAnswer as error:
        raise InvalidInput(str(error), field="results") from error
    check_tasks.end_all(diagnosis.tasks.all())
    _take(actor, diagnosis, [GroupResult(passed) for passed in results])
    return diagnosis


@transaction.atomic
def cancel(*, actor: Actor, diagnosis: OfflineDiagnosis) -> OfflineDiagnosis:
    """Ends it without an answer."""
    actor.require(Capability.OPERATE)
    diagnosis = _locked(diagnosis.pk)
    if diagnosis.is_over:
        raise TransitionRefused(f"{diagnosis} is over.")
    diagnosis.state, diagnosis.finished_at = RunState.CANCELLED, timezone.now()
    diagnosis.save()
    check_tasks.end_all(diagnosis.tasks.all())
    record(
        actor=actor,
        verb="offline.cancelled",
        text=f"{diagnosis} was cancelled",
        incident=diagnosis.incident,
        data={"offline": diagnosis.pk},
    )
    return diagnosis


def due() -> list[int]:
    """Diagnoses that a sweep should look at: those that runners work on."""
    running = OfflineDiagnosis.objects.filter(state=RunState.RUNNING, suite__isnull=False)
    return list(running.values_list("pk", flat=True))


@transaction.atomic
def go_on(offline_id: int) -> None:
    """Takes the round's results once runners have given all of them. Safe to call at any time."""
    diagnosis = _locked(offline_id)
    if diagnosis.is_over or diagnosis.suite_id is None:
        return
    found = offline_tasks.results(diagnosis)
    if found is not None:
        _take(PLANNER, diagnosis, found)


def call_for(diagnosis_id: int) -> None:
    """Calls a worker for the diagnosis once the transaction is through."""
    send = partial(round_may_be_over.send, sender=OfflineDiagnosis, offline_id=diagnosis_id)
    transaction.on_commit(send)


def _locked(pk: int) -> OfflineDiagnosis:
    return OfflineDiagnosis.objects.select_for_update().get(pk=pk)


def _take(actor: Actor, diagnosis: OfflineDiagnosis, found: Sequence[GroupResult]) -> None:
    newest, number = diagnosis.rounds[-1], len(diagnosis.rounds)
    newest["results"] = [one.passed for one in found]
    newest["values"] = [one.value for one in found]
    plan(diagnosis)
    failed = sum(one.passed is False for one in found)
    record(
        actor=actor,
        verb="offline.answered",
        text=f"{diagnosis}, round {number}: {failed} of {len(found)} groups failed",
        incident=diagnosis.incident,
        data={"offline": diagnosis.pk, "round": number},
    )
    offline_tasks.open_round(diagnosis)
