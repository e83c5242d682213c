"""A hang as in `hang_compute`, and a rank on another host whose dump was lost: a false lead."""

from dataclasses import replace

from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.scenarios import hang_compute
from diagnosis.simulator.story import Story


def inject(job: Job) -> Injection:
    injection = hang_compute.inject(job)
    host = job.cluster.host_of(injection.culprits[0])
    elsewhere = [rank for rank in range(job.world) if job.cluster.host_of(rank) != host]
    if not elsewhere:
        raise ValueError("missing_dump needs at least two hosts")
    lost = elsewhere[int(job.rng("lost").integers(len(elsewhere)))]
    return replace(injection, no_dump=frozenset({lost}))


def tell(run: Run) -> Story:
    return hang_compute.tell(run)


SCENARIO = Scenario("missing_dump", "a rank hangs and another's dump is lost", inject, tell)
