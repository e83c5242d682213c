"""Truths of the usual shapes, so that scenarios state only what is theirs."""

from collections.abc import Sequence
from typing import Any

from diagnosis.core.words import Action, IncidentKind, VerdictClass
from diagnosis.simulator.run import Run
from diagnosis.simulator.truth import ExpectedAction, Truth

JOB = "job"


def truth_of(
    run: Run,
    fault: str,
    kind: IncidentKind,
    cls: VerdictClass,
    cause: str,
    *,
    accept: Sequence[VerdictClass] = (),
    actions: Sequence[ExpectedAction] = (),
    isolate_nobody: bool = False,
    **more: Any,
) -> Truth:
    """The truth about a run: culprits from its injection, victims from how it went."""
    job, culprits = run.job, run.injection.culprits
    hosts = tuple(dict.fromkeys(job.cluster.host_of(rank).name for rank in culprits))
    spared = tuple(host.name for host in job.cluster.hosts if host.name not in hosts)
    return Truth(
        scenario=job.scenario,
        fault=fault,
        kind=kind,
        cls=cls,
        class_accept=tuple(dict.fromkeys((cls, *accept))),
        cause=cause,
        culprits=culprits,
        culprit_hosts=hosts,
        actions=tuple(actions),
        must_not_isolate=("*",) if isolate_nobody else spared,
        seed=job.seed,
        **{"victims": run.victims, "onset": job.true_time(run.onset), **_place(run), **more},
    )


def isolate_and_restart(run: Run) -> tuple[ExpectedAction, ...]:
    hosts = dict.fromkeys(run.job.cluster.host_of(rank).name for rank in run.injection.culprits)
    isolate = tuple(ExpectedAction(Action.ISOLATE_HOST, host) for host in hosts)
    return (*isolate, ExpectedAction(Action.RESTART_JOB, JOB))


def fix_code() -> tuple[ExpectedAction, ...]:
    return (ExpectedAction(Action.FIX_CODE, "user-code"),)


def _place(run: Run) -> dict[str, object]:
    """The communicator and number of the first culprit's first call that never completed."""
    if not run.injection.culprits:
        return {}
    rank = run.injection.culprits[0]
    program, done = run.timeline.programs[rank], len(run.timeline.completed[rank])
    if done >= len(program.calls):
        return {}
    group = run.job.communicator_of(rank, program.calls[done])
    return {"communicator": group.name, "sequence": program.sequence(done)}
