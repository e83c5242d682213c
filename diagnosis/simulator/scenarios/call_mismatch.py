"""A rank takes another path through the user's code and makes another call than its group."""

from dataclasses import replace

from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.simulator.choosing import call_of, culprit_of, is_collective
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.schedule import Call, Program
from diagnosis.simulator.story import Story
from diagnosis.simulator.verdicts import fix_code, truth_of

_WORDS = {
    "op": "another operation",
    "size": "another size",
    "dtype": "another dtype",
    "skip": "the call after the one that its group makes",
}


def inject(job: Job) -> Injection:
    rank = culprit_of(job)
    how = _how(job)
    wanted = is_collective(job, rank, at_least=3)

    def differs(program: Program, index: int) -> bool:
        return wanted(program, index) and (how != "skip" or _skip_shows(program, index))

    index = call_of(job, rank, differs)
    return Injection(culprits=(rank,), edits={rank: _edited(job.program_of(rank), index, how)})


def _how(job: Job) -> str:
    if job.options.mismatch is not None:
        return job.options.mismatch
    return ("op", "size", "dtype", "skip")[int(job.rng("mismatch").integers(4))]


def _skip_shows(program: Program, index: int) -> bool:
    """Whether the group's next call on this axis is another call, so that a skip is a mismatch."""
    call = program.calls[index]
    later = (c for c in program.calls[index + 1 :] if c.axis is call.axis and not c.peer)
    following = next(later, None)
    return following is not None and following.signature != call.signature


def _edited(program: Program, index: int, how: str) -> Program:
    if how == "skip":
        return program.without_call(index)
    return program.with_call(index, _other(program.calls[index], how))


def _other(call: Call, how: str) -> Call:
    if how == "op":
        op = "all_reduce" if call.op == "broadcast" else "broadcast"
        return replace(call, op=op, output_sizes=call.input_sizes)
    if how == "dtype":
        return replace(call, dtype="Float" if call.dtype == "BFloat16" else "BFloat16")
    return replace(
        call,
        input_sizes=tuple(_longer(size) for size in call.input_sizes),
        output_sizes=tuple(_longer(size) for size in call.output_sizes),
    )


def _longer(size: tuple[int, ...]) -> tuple[int, ...]:
    """A quarter more along the first dimension, as one sequence too many would make it."""
    return (size[0] + max(1, size[0] // 4), *size[1:])


def tell(run: Run) -> Story:
    rank = run.injection.culprits[0]
    how = _how(run.job)
    return Story(
        truth_of(
            run,
            f"call-mismatch-{how}",
            IncidentKind.HANG,
            VerdictClass.USER,
            f"rank {rank} makes {_WORDS[how]}",
            actions=fix_code(),
            isolate_nobody=True,
        )
    )


SCENARIO = Scenario("call_mismatch", "a rank calls another operation, size or dtype", inject, tell)
