"""Calls that differ and orders that differ are the user's code, in every form of dump."""

import pytest

from diagnosis.collectives.procedure import localise
from diagnosis.core.words import Action, Role, VerdictClass
from diagnosis.readers.flight_recorder import read_dumps
from diagnosis.simulator.scenarios import simulate
from tests.diagnosis.collectives.judging import blamed, forms, judged, some_ranks
from tests.diagnosis.recorded_job import (
    GLOO,
    NCCL,
    Call,
    Job,
    data_parallel,
    evidence,
    run,
    steps,
    tensor_and_data_parallel,
    tp_dp_steps,
)


@pytest.mark.parametrize(
    "odd",
    [
        Call("0", "broadcast"),
        Call("0", size=(80, 32)),
        Call("0", dtype="Double"),
        Call("0", size=(96,)),
        Call("0", "barrier", ()),
    ],
    ids=["operation", "size", "dtype", "skipped", "uneven inputs: barrier"],
)
@forms
@some_ranks
def test_the_minority_of_a_mismatch_is_the_users_code(form, rank, odd):
    programs = steps(8, 4)
    programs[rank] = [*programs[rank][:6], odd]
    found = judged(run(data_parallel(8), programs), form)
    assert (found.verdict.cls, blamed(found)) == (VerdictClass.USER, [rank])
    assert {r.action for r in found.recommendations} == {Action.FIX_CODE}


@pytest.mark.parametrize("culprit", [0, 5])
def test_a_mismatch_outranks_the_death_of_a_neighbour(culprit):
    programs = steps(8, 4)
    programs[culprit] = [*programs[culprit][:6], Call("0", size=(80, 32))]
    dead = (culprit - 1) % 8
    found = judged(run(data_parallel(8), programs), GLOO, without=[dead])
    assert (found.verdict.cls, blamed(found)) == (VerdictClass.USER, [culprit])


def test_a_mismatch_of_two_ranks_makes_both_possible():
    programs = steps(2, 4)
    programs[1] = [*programs[1][:6], Call("0", size=(80, 32))]
    found = judged(run(data_parallel(2), programs), NCCL)
    assert found.verdict.cls is VerdictClass.USER
    assert blamed(found, Role.POSSIBLE) == [0, 1]


@pytest.mark.parametrize("rank", [2, 5])
def test_where_a_pair_is_split_other_pairs_of_its_kind_tell_who_is_odd(rank):
    programs = tp_dp_steps(8, 4)
    programs[rank] = [*programs[rank][:6], Call(str(rank // 2 + 1), size=(80, 32))]
    found = judged(run(tensor_and_data_parallel(8), programs), NCCL)
    assert (found.verdict.cls, blamed(found)) == (VerdictClass.USER, [rank])


def test_sizes_may_differ_in_an_all_to_all():
    programs = {r: [Call("0", "all_to_all", (r + 1,)), Call("0")] for r in range(4)}
    programs[2] = programs[2][:1]
    job = run(data_parallel(4), programs)
    for rank in range(4):
        job.history[rank][0].ended = 50.0
    found = judged(job, NCCL)
    assert found.verdict.cls is not VerdictClass.USER


def order_deadlock(rank: int) -> Job:
    groups = {"1": ("EP", (0, 1, 2, 3)), "2": ("DP", (0, 1, 2, 3))}
    programs = {r: [Call("1"), Call("2", size=(96,))] * 4 for r in range(4)}
    programs[rank] = [*programs[rank][:6], programs[rank][7], programs[rank][6]]
    return run(groups, programs)


@forms
@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_circle_of_waits_names_the_minoritys_order(form, rank):
    found = judged(order_deadlock(rank), form)
    assert (found.verdict.cls, blamed(found)) == (VerdictClass.USER, [rank])
    assert "order" in found.verdict.summary


def test_of_two_ranks_in_a_circle_the_one_that_left_its_own_pattern_is_named():
    groups = {"1": ("EP", (0, 1)), "2": ("DP", (0, 1))}
    programs = {r: [Call("1"), Call("2", size=(96,))] * 4 for r in range(2)}
    programs[1] = [*programs[1][:6], programs[1][7], programs[1][6]]
    assert blamed(judged(run(groups, programs), NCCL)) == [1]


def test_a_circle_that_closes_without_the_ranks_that_left_no_dump_is_one():
    simulation = simulate("order_deadlock", seed=7000, hosts=8, missing_dumps=0.2)
    pieces = [
        evidence(simulation.files[name], name)
        for name in simulation.files
        if name.startswith("comm_lib_trace_rank_")
    ]
    found, _ = localise(read_dumps(pieces)[0], placement=simulation.placement)
    assert found.verdict.cls is VerdictClass.USER
    assert blamed(found) == list(simulation.truth.culprits)


def test_of_two_ranks_in_a_circle_the_one_beside_whom_everyone_waits_is_not_the_odd_one():
    simulation = simulate("call_mismatch", seed=1069, hosts=8)
    read, _ = read_dumps([item for item in simulation.evidence() if "trace_rank" in item.name])
    found, _ = localise(read, placement=simulation.placement)
    assert found.verdict.cls is VerdictClass.USER
    assert blamed(found) == list(simulation.truth.culprits)
