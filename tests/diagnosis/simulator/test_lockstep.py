"""Steps that all ranks make alike are computed at once, with the times of a walk by calls."""

from dataclasses import replace

import pytest

from diagnosis.simulator.job import Injection, Job, run_job
from diagnosis.simulator.scenarios import simulate

KINDS = ("healthy", "hang_compute", "call_mismatch", "order_deadlock", "slow_rank", "ib_link_down")


def by_calls(job: Job, injection: Injection) -> Injection:
    """The same fault, with a first call that is equal and another object: nothing is in step."""
    first = injection.edits.get(0, job.program_of(0))
    twin = first.with_call(0, replace(first.calls[0]))
    return replace(injection, edits={**injection.edits, 0: twin})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("tp", "pp"), [(4, 2), (1, 4), (8, 1)])
def test_times_are_equal_to_the_last_bit(kind: str, tp: int, pp: int):
    run = simulate(kind, seed=3, hosts=2, steps=5, tp=tp, pp=pp).run
    slow = run_job(run.job, by_calls(run.job, run.injection))
    assert run.timeline.enqueued == slow.enqueued
    assert run.timeline.arrived == slow.arrived
    assert run.timeline.completed == slow.completed
