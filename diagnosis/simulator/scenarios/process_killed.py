"""A rank's process is ended from outside by SIGKILL; nothing in the evidence says by whom."""

from diagnosis.core.words import Action, IncidentKind, VerdictClass
from diagnosis.simulator.choosing import call_of, culprit_of, is_collective
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.story import Story
from diagnosis.simulator.timeline import Disturbances
from diagnosis.simulator.truth import ExpectedAction
from diagnosis.simulator.verdicts import JOB, truth_of


def inject(job: Job) -> Injection:
    rank = culprit_of(job)
    index = call_of(job, rank, is_collective(job, rank))
    return Injection(
        culprits=(rank,), disturbances=Disturbances(host_stops={rank: index}), exits={rank: -9}
    )


def tell(run: Run) -> Story:
    rank = run.injection.culprits[0]
    return Story(
        truth_of(
            run,
            "process-killed",
            IncidentKind.CRASH,
            VerdictClass.DISTRIBUTED,
            f"SIGKILL to the process of rank {rank}",
            accept=(VerdictClass.UNKNOWN,),
            actions=(ExpectedAction(Action.RESTART_JOB, JOB),),
        )
    )


SCENARIO = Scenario("process_killed", "a rank's process is killed from outside", inject, tell)
