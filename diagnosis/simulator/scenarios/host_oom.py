"""A rank's host runs out of memory and its kernel ends the process: SIGKILL with a reason."""

from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.scenarios import process_killed
from diagnosis.simulator.story import Story
from diagnosis.simulator.verdicts import fix_code, truth_of
from diagnosis.simulator.writers.kernel_faults import out_of_memory


def tell(run: Run) -> Story:
    job, rank = run.job, run.injection.culprits[0]
    host = job.cluster.host_of(rank)
    resident = 480_000_000 + int(job.rng("resident").integers(40_000_000))
    kernel = out_of_memory(job.cluster.pid_of(rank), run.onset + 0.01, resident_kib=resident)
    return Story(
        truth_of(
            run,
            "host-out-of-memory",
            IncidentKind.CRASH,
            VerdictClass.USER,
            f"the host of rank {rank} ran out of memory",
            actions=fix_code(),
            isolate_nobody=True,
        ),
        kernel_lines={host.name: tuple(kernel)},
    )


SCENARIO = Scenario(
    "host_oom", "the kernel kills a rank for want of memory", process_killed.inject, tell
)
