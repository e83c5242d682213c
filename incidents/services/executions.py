"""Carrying a decision out: a plan that anyone may read, then one run that someone asked for.

Off unless whoever runs the instance switches an executor on (`AEGIS_EXECUTOR`). Nothing is ever run
twice for one recommendation, nor for one host of one incident.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from incidents.choices import ExecutionState, Role, Source
from incidents.exceptions import TransitionRefused
from incidents.hostnames import is_plain_name
from incidents.models import Decision, Execution, Incident, Recommendation
from incidents.roles import Actor, Capability
from incidents.services.blast_radius import guard_run
from incidents.services.events import record
from incidents.services.execution_host import decided_host
from incidents.signals import execution_wanted

#: An order that no worker took for so long is void: what was right then may be wrong now.
VOID_AFTER = timedelta(minutes=10)
#: Beyond the time limit, a worker gets so long to note the end.
_GRACE = timedelta(seconds=60)
_SHOWN = 2000
_PLACE = re.compile(r"\{(host|reference|cluster)\}")


@transaction.atomic
def plan(*, actor: Actor, recommendation: Recommendation) -> tuple[Execution, bool]:
    """The command that would run for the decision that stands, and whether this plan is new.

    Runs nothing. Raises `TransitionRefused` where there is nothing to carry out, or no executor.
    """
    actor.require(Capability.EXECUTE)
    recommendation = (
        Recommendation.objects.select_for_update(of=("self",))
        .select_related("diagnosis__incident__cluster", "diagnosis__incident__job")
        .get(pk=recommendation.pk)
    )
    incident = recommendation.diagnosis.incident
    decision, host = _decided(recommendation, incident)
    scheduler = _needed_scheduler(incident)
    argv = argv_of(scheduler, incident, host)
    known = Execution.objects.filter(recommendation=recommendation).first()
    if known is not None and known.state != ExecutionState.PLANNED:
        return known, False
    if known is not None and (known.decision_id, known.argv) == (decision.pk, argv):
        return known, False
    if known is not None:
        known.delete()
    made = Execution.objects.create(
        recommendation=recommendation,
        decision=decision,
        scheduler=scheduler,
        host=host,
        argv=argv,
        planned_by=actor.label,
    )
    return made, True


@transaction.atomic
def ask_to_run(*, actor: Actor, execution: Execution, confirm: bool = False) -> Execution:
    """Has a worker run the planned command, once.

    Raises `TransitionRefused` where it was run already or the decision no longer stands, and
    `TooManyIsolations` where so many hosts go out that it takes a second word (`confirm`).
    """
    actor.require(Capability.EXECUTE)
    found = Execution.objects.filter(pk=execution.pk).first()
    if found is None:
        raise TransitionRefused("The decision was changed since; plan it anew.")
    asked = Recommendation.objects.select_for_update(of=("self",)).get(pk=found.recommendation_id)
    incident = Incident.objects.select_for_update(of=("self",)).get(pk=asked.diagnosis.incident_id)
    current = Execution.objects.select_for_update(of=("self",)).get(pk=found.pk)
    _check(current, asked, incident)
    guard_run(incident.cluster, current.host, confirmed=confirm)
    current.state, current.asked_at = ExecutionState.WAITING, timezone.now()
    current.asked_by, current.user_id = actor.label, actor.user_id
    current.source = actor.source
    current.save()
    transaction.on_commit(partial(execution_wanted.send, sender=Execution, execution_id=current.pk))
    return current


def begin(execution_id: int) -> Execution | None:
    """The execution, now running; None where another worker has it, or it is void."""
    now = timezone.now()
    mine = Execution.objects.filter(
        pk=execution_id, state=ExecutionState.WAITING, asked_at__gt=now - VOID_AFTER
    ).update(state=ExecutionState.RUNNING, started_at=now)
    return Execution.objects.get(pk=execution_id) if mine else None


@transaction.atomic
def end(*, execution: Execution, exit_code: int | None, output: str = "", reason: str = "") -> None:
    """Notes how it ended, with its one event. None for the exit code: it did not end by itself."""
    done = exit_code == 0
    state = ExecutionState.DONE if done else ExecutionState.FAILED
    _close(execution, ExecutionState.RUNNING, state, exit_code, output, reason)


def void_and_lost() -> int:
    """Ends what no worker took in time, and what a worker took and never ended."""
    now = timezone.now()
    limit = timedelta(seconds=settings.EXECUTOR_SECONDS) + _GRACE
    void = Execution.objects.filter(state=ExecutionState.WAITING, asked_at__lte=now - VOID_AFTER)
    lost = Execution.objects.filter(state=ExecutionState.RUNNING, started_at__lte=now - limit)
    ended = 0
    for one in void:
        told = "No worker took it in time; nothing was run."
        ended += _close(one, ExecutionState.WAITING, ExecutionState.FAILED, None, "", told)
    for one in lost:
        told = "The worker ended before the command did: look at the scheduler whether it ran."
        ended += _close(one, ExecutionState.RUNNING, ExecutionState.UNKNOWN, None, "", told)
    return ended


def waiting() -> Sequence[int]:
    """What a worker could still run: a task that got lost is sent again."""
    orders = Execution.objects.filter(
        state=ExecutionState.WAITING, asked_at__gt=timezone.now() - VOID_AFTER
    )
    return list(orders.values_list("pk", flat=True))


def argv_of(scheduler: str, incident: Incident, host: str) -> list[str]:
    """The template of the settings, filled in; each part stays one argument.

    Raises `TransitionRefused` where it names the cluster and that name may mean something else to a
    scheduler's client.
    """
    values = {"host": host, "reference": incident.reference, "cluster": incident.cluster.name}
    if _names_cluster(scheduler) and not is_plain_name(incident.cluster.name):
        raise TransitionRefused(
            f"The command names the cluster, and '{incident.cluster}' is no plain name: letters, "
            "digits, dots, hyphens and underscores. Run it by hand."
        )
    template = settings.EXECUTORS[scheduler]
    return [_PLACE.sub(lambda found: values[found[1]], one) for one in template]


def _names_cluster(scheduler: str | None) -> bool:
    return any("{cluster}" in one for one in settings.EXECUTORS.get(scheduler or "", ()))


def _decided(recommendation: Recommendation, incident: Incident) -> tuple[Decision, str]:
    """The decision that stands and its host, which may share its name where a cluster is named."""
    return decided_host(recommendation, in_one_cluster=not _names_cluster(scheduler_of(incident)))


def scheduler_of(incident: Incident) -> str | None:
    """The job's own scheduler where its executor is on, else the only one that is."""
    own = incident.job.source.lower() if incident.job else ""
    if own in settings.EXECUTORS:
        return own
    fits_any = own in {"", "manual", "api"} and len(settings.EXECUTORS) == 1
    return next(iter(settings.EXECUTORS)) if fits_any else None


def _needed_scheduler(incident: Incident) -> str:
    if not settings.EXECUTORS:
        raise TransitionRefused(
            "No executor is switched on here: run the command by hand, or have whoever runs this "
            "instance set AEGIS_EXECUTOR."
        )
    found = scheduler_of(incident)
    if found is None:
        raise TransitionRefused("The executor of this job's scheduler is not switched on.")
    return found


def _check(execution: Execution, asked: Recommendation, incident: Incident) -> None:
    if execution.state != ExecutionState.PLANNED:
        raise TransitionRefused("This was run already, and nothing is run twice.")
    if not incident.is_open:
        raise TransitionRefused(f"{incident.reference} is resolved.")
    decision, host = _decided(asked, incident)
    argv = argv_of(_needed_scheduler(incident), incident, host)
    if (decision.pk, argv) != (execution.decision_id, execution.argv):
        raise TransitionRefused("The decision was changed since; plan it anew.")
    earlier = Execution.objects.filter(
        recommendation__diagnosis__incident=incident, host=execution.host
    ).exclude(state=ExecutionState.PLANNED)
    if earlier.exists():
        raise TransitionRefused(
            f"The command for {execution.host} was run already in {incident.reference}."
        )


@transaction.atomic
def _close(
    execution: Execution,
    before: ExecutionState,
    state: ExecutionState,
    exit_code: int | None,
    output: str,
    reason: str,
) -> bool:
    ended = Execution.objects.filter(pk=execution.pk, state=before).update(
        state=state,
        exit_code=exit_code,
        output=output,
        reason=reason,
        ended_at=timezone.now(),
    )
    if not ended:
        return False
    told = reason or f"it ended with {exit_code}"
    text = f"Ran: {execution}" if state == ExecutionState.DONE else f"{execution}: {told}"
    record(
        actor=Actor(
            role=Role.ADMIN,
            label=execution.asked_by,
            source=Source(execution.source),
            user_id=execution.user_id,
        ),
        verb="execution.ended",
        text=text,
        incident=execution.recommendation.diagnosis.incident,
        data={
            "execution": execution.pk,
            "recommendation": execution.recommendation_id,
            "argv": execution.argv,
            "state": state.value,
            "exit_code": exit_code,
            "output": output[:_SHOWN],
        },
    )
    return True
