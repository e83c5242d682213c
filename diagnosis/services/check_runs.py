"""Runs of checks: started on some hosts, taken from phase to phase, ended with a verdict."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from diagnosis.checks.suite import Phase, Suite
from diagnosis.checks.verdict import BatchVerdict, Status
from diagnosis.models import CheckedHost, CheckRun, RunState, TaskState
from diagnosis.services import busy_hosts, check_suites, check_tasks, check_verdicts
from incidents.choices import HostState
from incidents.exceptions import InvalidInput, TransitionRefused
from incidents.roles import Actor, Capability
from incidents.services import hosts, topology
from incidents.services.events import record

#: Sent with `run_id` when a run may have something to go on with.
run_may_go_on = Signal()

#: An item without a result is tried this often; with repeats of pairs on top.
ATTEMPTS = 2
PHASES = tuple(Phase)


@transaction.atomic
def start(
    *,
    actor: Actor,
    suite: str,
    names: Sequence[str],
    cluster: str = "",
    again_of: CheckRun | None = None,
    confirm: bool = False,
) -> CheckRun:
    """Starts a check; the hosts count as being checked until it is over.

    Raises `TransitionRefused` where one of them is in another run, `InvalidInput` for hosts that
    are not registered in the cluster, and `HostsInService` where a job runs on one of them, which
    takes a second word (`confirm`).
    """
    actor.require(Capability.OPERATE)
    version = check_suites.newest(suite)
    place = again_of.cluster if again_of else topology.cluster_of(cluster, names)
    found = topology.known_hosts(place, names)
    if not found:
        raise InvalidInput("Name at least one host.", field="hosts")
    busy = CheckedHost.objects.filter(run__state=RunState.RUNNING, host__in=found.values())
    if busy.exists():
        taken = ", ".join(str(one.host) for one in busy.select_related("host")[:5])
        raise TransitionRefused(f"Already being checked: {taken}.")
    with_job = busy_hosts.require_idle(found.values(), confirmed=confirm)
    limit = max(version.suite.budget_s * 3, settings.CHECK_DEADLINE_SECONDS)
    run = CheckRun.objects.create(
        suite=version,
        cluster=place,
        requested_by=actor.label,
        deadline_at=timezone.now() + timedelta(seconds=limit),
        again_of=again_of,
    )
    for host in found.values():
        CheckedHost.objects.create(run=run, host=host, before=host.state)
        hosts.set_state(
            actor=actor, host=host, state=HostState.BEING_CHECKED, note=f"check {run.pk}"
        )
    record(
        actor=actor,
        verb="check.started",
        text=f"{version} on {len(found)} hosts"
        + (f", {len(with_job)} of them with a job, which was confirmed" if with_job else ""),
        data={
            "run": run.pk,
            "suite": version.code,
            "hosts": sorted(found),
            "with_job": list(with_job),
        },
    )
    _open_next_phase(run)
    return run


def repeat(*, actor: Actor, run: CheckRun, confirm: bool = False) -> CheckRun:
    """The same check again, with the suite's newest version."""
    names = [one.host.name for one in run.hosts.select_related("host")]
    return start(actor=actor, suite=run.suite.code, names=names, again_of=run, confirm=confirm)


@transaction.atomic
def cancel(*, actor: Actor, run: CheckRun) -> CheckRun:
    """Ends a run without a verdict; its hosts go back to where they stood."""
    actor.require(Capability.OPERATE)
    run = CheckRun.objects.select_for_update().get(pk=run.pk)
    if run.is_over:
        raise TransitionRefused(f"{run} is over.")
    run.state, run.finished_at = RunState.CANCELLED, timezone.now()
    run.save()
    check_tasks.end_all(run.tasks.all())
    for one in run.hosts.select_related("host"):
        state = HostState(one.before or HostState.SUSPECT)
        note = f"check {run.pk} was cancelled"
        hosts.set_state(actor=actor, host=one.host, state=state, note=note)
    record(actor=actor, verb="check.cancelled", text=f"{run} was cancelled", data={"run": run.pk})
    return run


def due() -> list[int]:
    """Runs that a sweep should look at: all that are not over."""
    return list(CheckRun.objects.filter(state=RunState.RUNNING).values_list("pk", flat=True))


@transaction.atomic
def go_on(run_id: int) -> None:
    """Takes a run as far as its results allow. Safe to call at any time, by anyone, twice."""
    run = CheckRun.objects.select_for_update().filter(pk=run_id, state=RunState.RUNNING).first()
    if run is None:
        return
    check_tasks.give_up_lost(run.tasks.all(), run.deadline_at)
    if run.tasks.exclude(state=TaskState.DONE).exists():
        return
    suite = check_tasks.suite_for(run)
    so_far = _until(suite, Phase(run.phase)) if run.phase else suite
    verdict = check_verdicts.judge(run, so_far)
    if timezone.now() < run.deadline_at and _measure_again(run, so_far, verdict):
        return
    if not _open_next_phase(run):
        check_verdicts.finish(run, check_verdicts.judge(run, suite))


def call_for(run: CheckRun) -> None:
    """Calls a worker for the run once the transaction is through."""
    transaction.on_commit(partial(run_may_go_on.send, sender=CheckRun, run_id=run.pk))


def _until(suite: Suite, phase: Phase) -> Suite:
    wanted = PHASES[: PHASES.index(phase) + 1]
    return replace(suite, items=tuple(item for item in suite.items if item.phase in wanted))


def _open_next_phase(run: CheckRun) -> bool:
    """Opens the next phase that has items; whether there is one."""
    suite = check_tasks.suite_for(run)
    later = PHASES[PHASES.index(Phase(run.phase)) + 1 :] if run.phase else PHASES
    for phase in later:
        items = suite.of_phase(phase)
        if items:
            run.phase = phase
            run.save(update_fields=["phase"])
            check_tasks.open_tasks(run, items)
            return True
    return False


def _measure_again(run: CheckRun, suite: Suite, verdict: BatchVerdict) -> bool:
    """Opens tasks for what has to be measured once more; whether there is anything."""
    wanted: dict[str, list[str]] = {}
    for host in verdict.hosts:
        for reason in host.reasons:
            if reason.status == Status.REPEAT:
                wanted.setdefault(reason.item, []).append(host.host)
    opened = [
        check_tasks.open_again(run, suite.item(code), names) for code, names in wanted.items()
    ]
    return sum(opened) > 0
