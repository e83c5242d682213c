"""A rank makes two calls on two groups in the opposite order: each group waits for the other."""

from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.simulator.choosing import call_of, culprit_of
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.schedule import Program
from diagnosis.simulator.story import Story
from diagnosis.simulator.verdicts import fix_code, truth_of


def inject(job: Job) -> Injection:
    rank = culprit_of(job)

    def would_deadlock(program: Program, index: int) -> bool:
        pair = program.calls[index : index + 2]
        if len(pair) < 2 or pair[0].axis is pair[1].axis or pair[0].peer or pair[1].peer:
            return False
        first, second = (set(job.communicator_of(rank, call).ranks) for call in pair)
        return len(first) > 2 and bool((first & second) - {rank})

    index = call_of(job, rank, would_deadlock)
    return Injection(culprits=(rank,), edits={rank: job.program_of(rank).swapped(index)})


def tell(run: Run) -> Story:
    rank = run.injection.culprits[0]
    return Story(
        truth_of(
            run,
            "order-deadlock",
            IncidentKind.HANG,
            VerdictClass.USER,
            f"rank {rank} makes two calls on two groups in the opposite order",
            actions=fix_code(),
            isolate_nobody=True,
        )
    )


SCENARIO = Scenario(
    "order_deadlock",
    "two groups are called in opposite order",
    inject,
    tell,
    defaults={"run_ahead": 1},
)
