"""A GPU vanishes from PCIe (Xid 79): its rank freezes without a word, its peers time out."""

from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.simulator.choosing import call_of, culprit_of, is_collective
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.story import Story
from diagnosis.simulator.timeline import Disturbances
from diagnosis.simulator.verdicts import isolate_and_restart, truth_of
from diagnosis.simulator.writers.kernel_faults import fallen_off_bus


def inject(job: Job) -> Injection:
    rank = culprit_of(job)
    index = call_of(job, rank, is_collective(job, rank))
    return Injection(
        culprits=(rank,),
        disturbances=Disturbances(gpu_stops={rank: index}),
        frozen=frozenset({rank}),
    )


def tell(run: Run) -> Story:
    rank = run.injection.culprits[0]
    cluster = run.job.cluster
    gpu, host = cluster.gpu_of(rank), cluster.host_of(rank)
    return Story(
        truth_of(
            run,
            "gpu-fallen-off-bus",
            IncidentKind.HANG,
            VerdictClass.CRITICAL,
            f"the GPU of rank {rank} fell off the bus (Xid 79)",
            actions=isolate_and_restart(run),
            gpu=gpu.pci,
        ),
        kernel_lines={host.name: tuple(fallen_off_bus(gpu, run.onset + 0.003))},
    )


SCENARIO = Scenario("gpu_fallen_off_bus", "a GPU falls off the bus (Xid 79)", inject, tell)
