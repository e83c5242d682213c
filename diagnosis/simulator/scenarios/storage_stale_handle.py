"""The file server loses its export during a checkpoint: every writing rank fails alike."""

from diagnosis.core.words import Action, IncidentKind, VerdictClass
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.schedule import Program
from diagnosis.simulator.story import Line, Story
from diagnosis.simulator.timeline import Disturbances
from diagnosis.simulator.truth import ExpectedAction
from diagnosis.simulator.verdicts import truth_of
from diagnosis.simulator.writers.kernel_faults import stale_export
from diagnosis.simulator.writers.step_log import checkpoint_folder
from diagnosis.simulator.writers.traceback_log import rank_traceback

_SERVER = "nfs-01"


def inject(job: Job) -> Injection:
    stops = {rank: _end_of_checkpoint(job.program_of(rank)) for rank in _writers(job)}
    return Injection(
        disturbances=Disturbances(host_stops=stops),
        exits=dict.fromkeys(stops, 1),
        exit_delay=1.1,
    )


def _writers(job: Job) -> list[int]:
    """The first replica of the model writes it."""
    return [rank for rank in range(job.world) if job.layout.place(rank).dp == 0]


def _end_of_checkpoint(program: Program) -> int:
    """The barrier after the last checkpoint's writing. Raises `ValueError` without a checkpoint."""
    barriers = [n for n, call in enumerate(program.calls) if call.phase == "checkpoint"]
    if not barriers:
        raise ValueError("a checkpoint fault needs steps of at least checkpoint_every")
    return barriers[-1]


def tell(run: Run) -> Story:
    job, writers = run.job, tuple(run.injection.exits)
    number = job.first_iteration + run.timeline.programs[writers[0]].step_of(
        run.injection.disturbances.host_stops[writers[0]]
    )
    hosts = dict.fromkeys(job.cluster.host_of(rank).name for rank in writers)
    draw = int(job.rng("fileid").integers(2**40))
    return Story(
        truth_of(
            run,
            "stale-file-handle",
            IncidentKind.CRASH,
            VerdictClass.STORAGE,
            f"the export of {_SERVER} went stale during a checkpoint",
            actions=(ExpectedAction(Action.FIX_STORAGE, _SERVER),),
            isolate_nobody=True,
        ),
        rank_lines={rank: (_failure(run, rank, number),) for rank in writers},
        kernel_lines={name: tuple(stale_export(_SERVER, run.onset, draw)) for name in hosts},
    )


def _failure(run: Run, rank: int, number: int) -> Line:
    path = f"{checkpoint_folder(run)}/iter_{number:07}/__{rank}_0.distcp"
    delay = 0.4 + 0.5 * float(run.job.rng("write", rank).random())
    error = f"OSError: [Errno 116] Stale file handle: '{path}'"
    return Line(run.timeline.stopped_at(rank) + delay, rank_traceback(rank, "checkpoint", error))


SCENARIO = Scenario("storage_stale_handle", "shared storage fails in a checkpoint", inject, tell)
