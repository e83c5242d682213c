"""Stragglers, running jobs, stalls and wrapped rings: nobody is missing, or only for now."""

from dataclasses import replace
from typing import Any

import pytest

from diagnosis.collectives.procedure import localise
from diagnosis.core.collective_reports import CollectiveReports, Line, WorkReport
from diagnosis.core.words import Action, IncidentKind, Role, VerdictClass
from diagnosis.readers.flight_recorder import read_dumps
from diagnosis.simulator.scenarios import simulate
from tests.diagnosis.collectives.judging import blamed, forms, judged, some_ranks
from tests.diagnosis.recorded_job import (
    GLOO,
    NCCL,
    Call,
    Job,
    data_parallel,
    dump,
    dumps,
    evidence,
    placed,
    run,
    steps,
    tensor_and_data_parallel,
    tp_dp_steps,
)

TIMED = replace(NCCL, timing=True)


@forms
def test_two_leaders_of_a_running_job_do_not_make_the_others_culprits(form):
    programs = steps(8, 4)
    for rank in range(2, 8):
        programs[rank] = programs[rank][:7]
    job = run(data_parallel(8), programs)
    found = judged(job, form)
    assert found.verdict.cls is VerdictClass.UNKNOWN
    assert not blamed(found)
    assert not blamed(found, Role.POSSIBLE)


def test_many_ranks_on_many_hosts_that_are_behind_are_no_faults():
    """Eight pairs of sixteen hosts: in five of them, one has not come to the pair's next call."""
    groups = {str(pair): (f"TP_{pair}", (2 * pair, 2 * pair + 1)) for pair in range(16)}
    programs = {rank: [Call(str(rank // 2))] * 6 for rank in range(32)}
    for rank in (1, 6, 13, 18, 25):
        programs[rank] = programs[rank][:4]
    found = judged(run(groups, programs), NCCL, placement=placed(32, per_host=2))
    assert not blamed(found)
    assert Action.ISOLATE_HOST not in {item.action for item in found.recommendations}


@forms
def test_a_stall_that_everyone_has_arrived_at_names_nobody(form):
    found = judged(run(data_parallel(8), steps(8, 4), stuck_in=("0", 7)), form)
    assert found.verdict.cls is VerdictClass.UNKNOWN
    assert not blamed(found)


@pytest.mark.parametrize("rank", [0, 5])
def test_a_gpu_that_has_not_started_what_its_peers_have_is_named(rank):
    job = run(data_parallel(8), steps(8, 4), stuck_in=("0", 7))
    taken = {one: dump(job, one, TIMED) for one in range(8)}
    taken[rank]["entries"][-1] |= {"state": "scheduled", "time_discovered_started_ns": None}
    pieces = [evidence(content, f"trace_rank_{one}") for one, content in taken.items()]
    found, _ = localise(read_dumps(pieces)[0], placement=placed(8))
    assert found.verdict.cls is VerdictClass.DISTRIBUTED
    assert blamed(found) == [rank]


def test_where_nobody_tells_of_starts_a_launched_operation_counts_as_arrived():
    job = run(data_parallel(8), steps(8, 4), stuck_in=("0", 7))
    assert not blamed(judged(job, replace(TIMED, timing=False)))


def ring_job(missing: int | None) -> Job:
    """The first half calls its own group three times as often as the second half does."""
    groups = {
        "0": ("default_pg", tuple(range(8))),
        "1": ("ENC", (0, 1, 2, 3)),
        "2": ("DEC", (4, 5, 6, 7)),
    }
    own = {True: [Call("1", size=(96,))] * 3, False: [Call("2", size=(96,))]}
    programs = {rank: [*own[rank < 4], Call("0")] * 8 for rank in range(8)}
    if missing is not None:
        programs[missing] = programs[missing][:12]
    return run(groups, programs)


@pytest.mark.parametrize("backend", [NCCL, GLOO])
def test_wrapped_rings_of_a_healthy_job_are_healthy(backend):
    assert judged(ring_job(None), replace(backend, ring=12)).verdict.cls is VerdictClass.HEALTHY


@pytest.mark.parametrize("backend", [NCCL, GLOO])
def test_wrapped_rings_still_lead_to_the_missing_rank(backend):
    assert blamed(judged(ring_job(6), replace(backend, ring=12))) == [6]


def slow(rank: int, world: int = 8, count: int = 6) -> Job:
    programs = steps(world, count)
    programs[rank] = [
        replace(call, own_ms=190.0) if place % 3 == 0 else call
        for place, call in enumerate(programs[rank])
    ]
    return run(data_parallel(world), programs)


@forms
@some_ranks
def test_a_rank_that_is_late_at_every_step_is_a_straggler(form, rank):
    found = judged(slow(rank), form)
    assert (found.verdict.cls, blamed(found)) == (VerdictClass.DEGRADATION, [rank])
    assert found.verdict.kind is IncidentKind.DEGRADATION
    told = f"takes {found.verdict.coverage['lost_share']:.0%} of the recorded time"
    assert told in found.verdict.summary


@forms
@pytest.mark.parametrize("at", [900.0, 990.0, 1200.0])
def test_a_straggler_in_the_middle_of_a_run_is_no_hang(form, at):
    found = judged(slow(6), form, at=at)
    assert (found.verdict.cls, blamed(found)) == (VerdictClass.DEGRADATION, [6])


def test_a_straggler_of_one_group_is_told_from_the_partner_it_delays():
    programs = tp_dp_steps(8, 8)
    programs[5] = [
        replace(call, own_ms=90.0) if place % 3 == 0 else call
        for place, call in enumerate(programs[5])
    ]
    assert blamed(judged(run(tensor_and_data_parallel(8), programs), NCCL)) == [5]


def test_a_time_out_rules_out_motion_and_a_missing_majority_shares_its_cause():
    programs = steps(8, 4)
    for rank in range(2, 8):
        programs[rank] = programs[rank][:7]
    taken = dumps(run(data_parallel(8), programs), NCCL)
    line = Line("train.log", 1, "…")
    work = WorkReport(0, "default", 8, "ALLREDUCE", 8, 7, timed_out=True, line=line)
    found, _ = localise(taken, placement=placed(8), reports=CollectiveReports(work=(work,)))
    assert found.verdict.kind is IncidentKind.HANG
    assert "share" in found.verdict.summary
    assert not blamed(found)


@forms
def test_many_ranks_missing_here_and_there_look_like_jitter_and_are_only_possible(form):
    programs = steps(8, 4)
    for rank in (0, 2, 5):
        programs[rank] = programs[rank][:7]
    found = judged(run(data_parallel(8), programs), form)
    assert found.verdict.cls is VerdictClass.UNKNOWN
    assert blamed(found, Role.POSSIBLE) == [0, 2, 5]


def simulated(kind: str, seed: int, hosts: int = 2, **options: Any):
    simulation = simulate(kind, seed=seed, hosts=hosts, **options)
    pieces = [item for item in simulation.evidence() if "trace_rank" in item.name]
    read, _ = read_dumps(pieces)
    found, _ = localise(read, placement=simulation.placement)
    return simulation, found


@pytest.mark.parametrize(("seed", "hosts"), [(1, 2), (2, 2), (7, 2), (1028, 8)])
def test_dumps_of_a_running_job_taken_at_different_moments_isolate_nobody(seed, hosts):
    _, found = simulated("healthy_midrun", seed, hosts)
    assert not blamed(found)
    assert not found.recommendations or all(
        r.action is not Action.ISOLATE_HOST for r in found.recommendations
    )


@pytest.mark.parametrize("seed", [1, 4])
def test_with_timing_the_slow_rank_is_told_from_the_replica_that_it_delays(seed):
    simulation, found = simulated("slow_rank", seed, tp=4, pp=2)
    assert blamed(found) == list(simulation.truth.culprits)


@pytest.mark.parametrize("form", [GLOO, NCCL], ids=["gloo", "nccl"])
def test_the_wait_for_a_rank_without_a_dump_is_nobodys_own_time(form):
    """Rank 4 is slow at every step and left no dump: the members of its data group wait for it."""
    programs = {}
    for rank in range(8):
        pair, data = str(rank // 2 + 1), str(5 + rank % 2)
        own = 250.0 if rank == 4 else 10.0
        step = [Call(pair, own_ms=own), Call(pair), Call(data), Call("0", size=(1,))]
        programs[rank] = step * 6
    job = run(tensor_and_data_parallel(8), programs)
    found = judged(job, replace(form, groups_known=True), without=[4])
    assert not [one for one in found.suspects if one.fault == "collective-straggler"]
