"""An NVLink of a GPU fails for good (Xid 74): the process that used it aborts."""

from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.simulator.choosing import call_of, culprit_of, is_collective
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.story import Line, Story
from diagnosis.simulator.timeline import Disturbances
from diagnosis.simulator.verdicts import isolate_and_restart, truth_of
from diagnosis.simulator.writers.kernel_faults import nvlink_fatal
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
    link = int(job.rng("nvlink").integers(18))
    kernel = nvlink_fatal(gpu, job.cluster.pid_of(rank), run.onset + 0.002, link=link)
    text = "uncorrectable NVLink error detected during the execution"
    error = cuda_error(job.release, text)
    return Story(
        truth_of(
            run,
            "nvlink-fatal",
            IncidentKind.CRASH,
            VerdictClass.CRITICAL,
            f"NVLink {link} of the GPU of rank {rank} failed (Xid 74)",
            actions=isolate_and_restart(run),
            gpu=gpu.pci,
        ),
        rank_lines={rank: (Line(run.onset + 0.3, rank_traceback(rank, "backward", error)),)},
        kernel_lines={host.name: tuple(kernel)},
    )


SCENARIO = Scenario("nvlink_error", "an NVLink of a GPU fails (Xid 74)", inject, tell)
