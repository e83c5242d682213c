"""The user's code fails on one rank; elsewhere the communication library is torn down with it."""

from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.simulator.choosing import call_of, culprit_of, in_phase
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.story import Line, Story
from diagnosis.simulator.timeline import Disturbances
from diagnosis.simulator.verdicts import fix_code, truth_of
from diagnosis.simulator.writers.nccl_log import connection_reset
from diagnosis.simulator.writers.traceback_log import rank_traceback

_EXIT_DELAY_S, _NOTICED_S = 0.6, 3.1


def inject(job: Job) -> Injection:
    rank = culprit_of(job)
    index = call_of(job, rank, in_phase("forward", "backward"))
    return Injection(
        culprits=(rank,),
        disturbances=Disturbances(host_stops={rank: index}),
        exits={rank: 1},
        exit_delay=_EXIT_DELAY_S,
        remote_errors={other: _NOTICED_S + 0.01 * other for other in _connected(job, rank)},
    )


def _connected(job: Job, rank: int) -> list[int]:
    """Ranks on other hosts that hold a connection to it: its neighbours in each group's ring."""
    found = set()
    for group in job.layout.communicators_of(rank):
        own = group.ranks.index(rank)
        for other in (group.ranks[own - 1], group.ranks[(own + 1) % len(group.ranks)]):
            if job.cluster.host_of(other) != job.cluster.host_of(rank):
                found.add(other)
    return sorted(found)


def tell(run: Run) -> Story:
    job, rank = run.job, run.injection.culprits[0]
    call = run.timeline.programs[rank].calls[run.injection.disturbances.host_stops[rank]]
    short = 4096 - 1 - int(job.rng("short").integers(64))
    error = (
        f"RuntimeError: The size of tensor a (4096) must match the size of tensor b ({short}) at "
        "non-singleton dimension 0"
    )
    lines: dict[int, tuple[Line, ...]] = {}
    lines[rank] = (Line(run.onset + 0.02, rank_traceback(rank, call.phase, error)),)
    last = {}
    for other in run.injection.remote_errors:
        lines[other], last[other] = connection_reset(job, other, run.endings[other].at, rank)
    return Story(
        truth_of(
            run,
            "python-exception",
            IncidentKind.CRASH,
            VerdictClass.USER,
            f"the training program raised on rank {rank}",
            actions=fix_code(),
            isolate_nobody=True,
        ),
        rank_lines=lines,
        last_errors=last,
    )


SCENARIO = Scenario("python_exception", "the user's code raises on one rank", inject, tell)
