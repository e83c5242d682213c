"""Whom the dumps show waiting for whom: the truth must be what the evidence leads to."""

from collections import defaultdict
from typing import Any

import pytest

from diagnosis.simulator.scenarios import simulate
from tests.diagnosis.simulator.dumps import dumps_of, oldest_open

SEEDS = range(5)
Dump = dict[str, Any]


def behind(dumps: dict[int, Dump]) -> dict[int, set[int]]:
    """For each waiting rank the members of the group it waits in that have not enqueued the call.

    Derived from the dumps alone; send and receive wait for their one partner.
    """
    reached = {rank: _reached(dump) for rank, dump in dumps.items()}
    edges: dict[int, set[int]] = {}
    for rank, dump in dumps.items():
        entry = oldest_open(dump)
        if entry is None:
            continue
        group = entry["process_group"][0]
        members = [int(r) for r in dump["pg_config"][group]["ranks"].strip("[]").split(", ")]
        if entry["is_p2p"]:
            other = int(entry["profiling_name"].replace("<-", "->").rsplit("->", 1)[1])
            edges[rank] = {members[other]}
            continue
        number = entry["collective_seq_id"]
        edges[rank] = {m for m in members if m in dumps and reached[m][group] < number}
    return edges


def _reached(dump: Dump) -> dict[str, int]:
    numbers: dict[str, int] = defaultdict(int)
    for entry in dump["entries"]:
        if not entry["is_p2p"]:
            numbers[entry["process_group"][0]] = entry["collective_seq_id"]
    return numbers


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", [{}, {"run_ahead": 1}, {"tp": 2, "pp": 4}, {"tp": 1, "pp": 1}])
def test_in_a_hang_the_culprit_alone_waits_for_nobody(seed, form):
    simulation = simulate("hang_compute", seed=seed, hosts=2, **form)
    dumps = dumps_of(simulation)
    idle = {rank for rank, dump in dumps.items() if oldest_open(dump) is None}
    assert idle == set(simulation.truth.culprits)


@pytest.mark.parametrize("seed", SEEDS)
def test_in_a_hang_with_blocking_calls_every_chain_of_waiting_ends_at_the_culprit(seed):
    simulation = simulate("hang_compute", seed=seed, hosts=2, run_ahead=1)
    edges = behind(dumps_of(simulation))
    for rank in edges:
        ends: set[int] = {rank}
        seen: set[int] = set()
        while ends - seen:
            here = (ends - seen).pop()
            seen.add(here)
            ends |= edges.get(here, set())
        assert set(simulation.truth.culprits) <= seen


@pytest.mark.parametrize("seed", SEEDS)
def test_a_call_mismatch_shows_one_rank_with_another_signature(seed):
    simulation = simulate("call_mismatch", seed=seed, hosts=2)
    found: dict[tuple[str, ...], set[int]] = defaultdict(set)
    truth = simulation.truth
    for rank, dump in dumps_of(simulation).items():
        for entry in dump["entries"]:
            same_group = entry["process_group"][0] == truth.communicator
            if same_group and entry["collective_seq_id"] == truth.sequence:
                found[_signature(entry)].add(rank)
    assert min(found.values(), key=len) == set(truth.culprits)
    assert len(found) == 2


def _signature(entry: dict[str, Any]) -> tuple[str, ...]:
    sizes = (str(entry["input_sizes"]), str(entry["output_sizes"]), str(entry["input_dtypes"]))
    return (entry["profiling_name"], *sizes)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_order_deadlock_is_a_circle_through_the_culprit(seed):
    simulation = simulate("order_deadlock", seed=seed, hosts=2)
    edges = behind(dumps_of(simulation))
    (culprit,) = simulation.truth.culprits
    waiting_for_culprit = {rank for rank, others in edges.items() if culprit in others}
    assert edges[culprit] & waiting_for_culprit


@pytest.mark.parametrize("scenario", ["healthy", "slow_rank"])
def test_in_a_finished_job_no_call_is_open(scenario):
    simulation = simulate(scenario, seed=1, hosts=2)
    assert not any(oldest_open(dump) for dump in dumps_of(simulation).values())


def test_midrun_dumps_show_ranks_at_different_calls():
    simulation = simulate("healthy_midrun", seed=1, hosts=2)
    lengths = {len(dump["entries"]) for dump in dumps_of(simulation).values()}
    assert len(lengths) > 3


@pytest.mark.parametrize("seed", SEEDS)
def test_the_straggler_has_the_shortest_collectives(seed):
    simulation = simulate("slow_rank", seed=seed, hosts=2, tp=1, pp=1)
    total = {
        rank: sum(entry["duration_ms"] for entry in dump["entries"])
        for rank, dump in dumps_of(simulation).items()
    }
    assert min(total, key=total.__getitem__) == simulation.truth.culprits[0]


def test_a_cut_link_leaves_everyone_arrived_at_the_open_operation():
    simulation = simulate("ib_link_down", seed=2, hosts=2)
    dumps = dumps_of(simulation)
    (culprit,) = simulation.truth.culprits
    assert behind(dumps)[culprit] == set()
