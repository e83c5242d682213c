"""A GPU's memory has an uncorrectable error (Xid 48, 63): its process aborts, its peers wait."""

from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.simulator.choosing import call_of, culprit_of, is_collective
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.story import Line, Story
from diagnosis.simulator.timeline import Disturbances
from diagnosis.simulator.verdicts import isolate_and_restart, truth_of
from diagnosis.simulator.writers.kernel_faults import double_bit
from diagnosis.simulator.writers.traceback_log import cuda_error, rank_traceback


def inject(job: Job) -> Injection:
    rank = culprit_of(job)
    index = call_of(job, rank, is_collective(job, rank))
    return Injection(
        culprits=(rank,),
        disturbances=Disturbances(gpu_stops={rank: index}),
        exits={rank: -6},
        exit_delay=1.2,
    )


def tell(run: Run) -> Story:
    job, rank = run.job, run.injection.culprits[0]
    gpu, host = job.cluster.gpu_of(rank), job.cluster.host_of(rank)
    partition = int(job.rng("partition").integers(16))
    kernel = double_bit(gpu, job.cluster.pid_of(rank), run.onset + 0.002, partition=partition)
    error = cuda_error(job.release, "uncorrectable ECC error encountered")
    return Story(
        truth_of(
            run,
            "ecc-double-bit",
            IncidentKind.CRASH,
            VerdictClass.CRITICAL,
            f"uncorrectable memory error on the GPU of rank {rank} (Xid 48)",
            actions=isolate_and_restart(run),
            gpu=gpu.pci,
        ),
        rank_lines={rank: (Line(run.onset + 0.3, rank_traceback(rank, "backward", error)),)},
        kernel_lines={host.name: tuple(kernel)},
    )


SCENARIO = Scenario("ecc_double_bit", "a GPU's memory has a double-bit error", inject, tell)
