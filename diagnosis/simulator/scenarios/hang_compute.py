"""A rank is stuck in its own code before a collective; everyone else waits for it."""

from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.simulator.choosing import call_of, culprit_of, is_collective
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.story import Story
from diagnosis.simulator.timeline import Disturbances
from diagnosis.simulator.verdicts import isolate_and_restart, truth_of


def inject(job: Job) -> Injection:
    rank = culprit_of(job)
    index = call_of(job, rank, is_collective(job, rank))
    return Injection(culprits=(rank,), disturbances=Disturbances(host_stops={rank: index}))


def tell(run: Run) -> Story:
    rank = run.injection.culprits[0]
    return Story(
        truth_of(
            run,
            "rank-missing-from-collective",
            IncidentKind.HANG,
            VerdictClass.DISTRIBUTED,
            f"rank {rank} never reached its next collective",
            actions=isolate_and_restart(run),
        )
    )


SCENARIO = Scenario("hang_compute", "a rank hangs in computation before a collective", inject, tell)
