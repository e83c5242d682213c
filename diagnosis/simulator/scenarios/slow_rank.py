"""A rank computes slower than its peers from some step on: a straggler, and nothing fails."""

from diagnosis.core.words import Action, IncidentKind, VerdictClass
from diagnosis.simulator.choosing import culprit_of
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.story import Story
from diagnosis.simulator.timeline import Disturbances
from diagnosis.simulator.truth import ExpectedAction
from diagnosis.simulator.verdicts import truth_of


def inject(job: Job) -> Injection:
    rank = culprit_of(job)
    starts = job.program_of(rank).starts
    begin = starts[min(2, len(starts) - 1)]
    slow = {rank: (begin, job.options.slowdown)}
    return Injection(culprits=(rank,), disturbances=Disturbances(slow=slow), requests_dumps=True)


def tell(run: Run) -> Story:
    rank = run.injection.culprits[0]
    begin, factor = run.injection.disturbances.slow[rank]
    host = run.job.cluster.host_of(rank).name
    return Story(
        truth_of(
            run,
            "slow-rank",
            IncidentKind.DEGRADATION,
            VerdictClass.DEGRADATION,
            f"the GPU of rank {rank} takes {factor:g} times as long for its work",
            actions=(ExpectedAction(Action.ISOLATE_HOST, host),),
            onset=run.job.true_time(run.timeline.enqueued[rank][begin]),
            victims=tuple(other for other in range(run.job.world) if other != rank),
        )
    )


SCENARIO = Scenario(
    "slow_rank", "a rank is a straggler", inject, tell, defaults={"timing": True, "steps": 10}
)
