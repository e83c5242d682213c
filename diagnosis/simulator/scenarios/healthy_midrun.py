"""Dumps taken from a running job, each rank at a slightly different moment: nothing is wrong."""

from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.scenarios import healthy


def inject(job: Job) -> Injection:
    share = float(job.rng("moment").uniform(0.35, 0.85))
    return Injection(requests_dumps=True, dumps_at=share)


SCENARIO = Scenario(
    "healthy_midrun",
    "a running job, dumped at slightly different moments",
    inject,
    healthy.tell,
    defaults={"dump_jitter_s": 0.3},
)
