"""Where a fault strikes: the rank, and the call of its program, drawn from the seed."""

from collections.abc import Callable

from diagnosis.simulator.job import Job
from diagnosis.simulator.schedule import Call, Program


def culprit_of(job: Job) -> int:
    """The rank that the options name, else one that the seed draws."""
    if job.options.culprit is None:
        return int(job.rng("culprit").integers(job.world))
    if not 0 <= job.options.culprit < job.world:
        raise ValueError(f"culprit must be a rank from 0 to {job.world - 1}")
    return job.options.culprit


def call_of(job: Job, rank: int, wanted: Callable[[Program, int], bool]) -> int:
    """The index of a call of the wanted kind, in the last steps, where the job has run a while.

    Raises `ValueError` when the job's layout has no such call.
    """
    program = job.program_of(rank)
    begin = program.starts[min(1, len(program.starts) - 1)]
    found = [index for index in range(begin, len(program.calls)) if wanted(program, index)]
    if not found:
        raise ValueError(f"{job.scenario} needs a call that this layout ({job.layout}) lacks")
    return found[int(job.rng("call").integers(len(found)))]


def members(job: Job, rank: int, call: Call) -> int:
    return len(job.communicator_of(rank, call).ranks)


def is_collective(job: Job, rank: int, at_least: int = 2) -> Callable[[Program, int], bool]:
    """Calls that are no sends or receives and have this many members."""

    def wanted(program: Program, index: int) -> bool:
        call = program.calls[index]
        return not call.peer and members(job, rank, call) >= at_least

    return wanted


def in_phase(*phases: str) -> Callable[[Program, int], bool]:
    return lambda program, index: program.calls[index].phase in phases
