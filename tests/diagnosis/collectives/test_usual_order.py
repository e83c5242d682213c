"""Circles of waits in jobs of several kinds of groups: the usual order tells who left it."""

import pytest

from diagnosis.core.words import VerdictClass
from tests.diagnosis.collectives.judging import blamed, judged
from tests.diagnosis.recorded_job import (
    NCCL,
    Call,
    placed,
    run,
    tensor_and_data_parallel,
)

WORLD = 8


def programs() -> dict[int, list[Call]]:
    """Per step two calls of the pair, one of the data group, and one of all ranks."""
    found = {}
    for rank in range(WORLD):
        pair, data = str(rank // 2 + 1), str(WORLD // 2 + 1 + rank % 2)
        step = [Call(pair, size=(96,)), Call(pair, size=(96,)), Call(data), Call("0", size=(1,))]
        found[rank] = step * 4
    return found


def named(changed: dict[int, list[Call]]) -> tuple[VerdictClass, list[int | None]]:
    found = judged(run(tensor_and_data_parallel(WORLD), changed), NCCL, placement=placed(WORLD))
    return found.verdict.cls, blamed(found)


@pytest.mark.parametrize("rank", [0, 3, 6])
def test_who_left_a_call_out_is_named_though_the_whole_job_waits_beside_it(rank):
    changed = programs()
    del changed[rank][8]
    assert named(changed) == (VerdictClass.USER, [rank])


@pytest.mark.parametrize("rank", [1, 4, 7])
def test_who_made_a_call_more_is_named_and_not_the_partner_that_waits_with_the_others(rank):
    changed = programs()
    changed[rank].insert(8, Call(str(rank // 2 + 1), size=(96,)))
    assert named(changed) == (VerdictClass.USER, [rank])


@pytest.mark.parametrize("rank", [0, 5])
def test_who_comes_to_the_call_of_all_ranks_too_early_is_named(rank):
    changed = programs()
    calls = changed[rank]
    calls[10], calls[11] = calls[11], calls[10]
    assert named(changed) == (VerdictClass.USER, [rank])
