"""A rank's program asks for more GPU memory than there is; its process ends with an error."""

from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.simulator.choosing import call_of, culprit_of, in_phase
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.story import Line, Story
from diagnosis.simulator.timeline import Disturbances
from diagnosis.simulator.verdicts import fix_code, truth_of
from diagnosis.simulator.writers.traceback_log import rank_traceback

_EXIT_DELAY_S = 2.4
_MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {wanted}.00 MiB. GPU {gpu} has "
    "a total capacity of 79.15 GiB of which {free:.2f} MiB is free. Including non-PyTorch memory, "
    "this process has {held:.2f} GiB memory in use. Of the allocated memory {allocated:.2f} GiB is "
    "allocated by PyTorch, and 283.51 MiB is reserved by PyTorch but unallocated. If reserved but "
    "unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to "
    "avoid fragmentation.  See documentation for Memory Management  "
    "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
)


def inject(job: Job) -> Injection:
    rank = culprit_of(job)
    index = call_of(job, rank, in_phase("forward", "backward"))
    return Injection(
        culprits=(rank,),
        disturbances=Disturbances(host_stops={rank: index}),
        exits={rank: 1},
        exit_delay=_EXIT_DELAY_S,
    )


def tell(run: Run) -> Story:
    rank = run.injection.culprits[0]
    call = run.timeline.programs[rank].calls[run.injection.disturbances.host_stops[rank]]
    text = rank_traceback(rank, call.phase, _message(run, rank))
    return Story(
        truth_of(
            run,
            "cuda-out-of-memory",
            IncidentKind.CRASH,
            VerdictClass.USER,
            f"rank {rank} ran out of GPU memory",
            actions=fix_code(),
            isolate_nobody=True,
        ),
        rank_lines={rank: (Line(run.onset + 0.02, text),)},
    )


def _message(run: Run, rank: int) -> str:
    wanted = 256 + 16 * int(run.job.rng("wanted", rank).integers(40))
    free = wanted // 3 + 0.25
    held = 79.15 - free / 1024
    return _MESSAGE.format(
        wanted=wanted,
        gpu=run.job.cluster.local_rank(rank),
        free=free,
        held=held,
        allocated=held - 1.6,
    )


SCENARIO = Scenario("cuda_oom", "a rank's program runs out of GPU memory", inject, tell)
