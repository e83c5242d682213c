"""A job that ran to its end; someone asked for dumps afterwards."""

from diagnosis.core.words import Action, IncidentKind, VerdictClass
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.story import Story
from diagnosis.simulator.truth import ExpectedAction
from diagnosis.simulator.verdicts import JOB, truth_of


def inject(job: Job) -> Injection:
    return Injection(requests_dumps=True)


def tell(run: Run) -> Story:
    return Story(
        truth_of(
            run,
            "none",
            IncidentKind.NONE,
            VerdictClass.HEALTHY,
            "nothing is wrong",
            accept=(VerdictClass.UNKNOWN,),
            isolate_nobody=True,
            actions=(ExpectedAction(Action.NONE, JOB),),
            onset=None,
            victims=(),
        )
    )


SCENARIO = Scenario("healthy", "a job that finished, asked for its dumps", inject, tell)
