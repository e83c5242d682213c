"""Sinks, circles and edges, on small progress made by hand."""

import numpy as np

from diagnosis.collectives.wait_graph import Standing, wait_graph
from diagnosis.core.collectives import (
    CollectiveProgress,
    Communicator,
    OpenOperation,
    Signature,
    counters_only,
)

SUM = Signature("all_reduce")


def waits(rank: int, communicator: int, seq: int, *, peers: tuple[int, ...] = ()) -> OpenOperation:
    return OpenOperation(rank, communicator, seq, SUM, seq, f"rank_{rank}", peers=peers)


def progress(communicators: list[Communicator], *waiting: OpenOperation) -> CollectiveProgress:
    world = sorted({int(rank) for c in communicators for rank in c.ranks})
    return CollectiveProgress(
        tuple(communicators),
        waiting={op.rank: op for op in waiting},
        open_in={(op.communicator, op.rank): op for op in waiting if not op.peers},
        world=tuple(world),
        reported=frozenset(world),
    )


def group(ranks: list[int], enqueued: list[int], completed: list[int]) -> Communicator:
    return counters_only("0", "", ranks, enqueued=enqueued, completed=completed)


def standings(found: CollectiveProgress) -> dict[int, Standing]:
    return {sink.rank: sink.standing for sink in wait_graph(found, 2).sinks}


def test_a_member_that_has_not_launched_the_awaited_operation_is_the_sink():
    found = progress([group([0, 1, 2], [5, 5, 4], [4, 4, 4])], waits(0, 0, 5), waits(1, 0, 5))
    assert standings(found) == {2: Standing.OUTSIDE}


def test_a_member_that_is_past_the_operation_is_not_waited_for():
    found = progress([group([0, 1], [5, 6], [4, 6])], waits(0, 0, 5))
    assert not standings(found)


def test_the_graph_goes_through_a_victim_to_the_sink():
    first, second = group([0, 1], [5, 4], [4, 4]), group([1, 2], [7, 6], [6, 6])
    found = progress([first, second], waits(0, 0, 5), waits(1, 1, 7))
    assert standings(found) == {2: Standing.OUTSIDE}


def test_a_chain_of_three_groups_leaves_no_victim_trapped():
    chain = [group([n, n + 1], [5, 4], [4, 4]) for n in range(4)]
    graph = wait_graph(progress(chain, *(waits(n, n, 5) for n in range(4))), 2)
    assert [sink.rank for sink in graph.sinks] == [4]
    assert not graph.cycle
    assert not graph.trapped


def test_peers_far_ahead_mean_that_the_ranks_gpu_stopped():
    both = group([0, 1], [20, 20], [4, 17])
    found = progress([both], waits(0, 0, 5), waits(1, 0, 18))
    assert standings(found) == {0: Standing.OVERTAKEN}


def test_one_operation_behind_is_only_lagging():
    found = progress([group([0, 1], [6, 6], [4, 5])], waits(0, 0, 5), waits(1, 0, 6))
    assert standings(found) == {0: Standing.LAGGING}


def test_counters_older_than_the_peers_are_stale():
    found = progress([group([0, 1, 2], [9, 9, 4], [8, 8, 4])], waits(0, 0, 9), waits(1, 0, 9))
    assert wait_graph(found, 2).sinks[0].stale


def test_a_circle_has_no_sink_and_its_followers_are_trapped():
    first, second = group([0, 1], [5, 4], [4, 4]), group([0, 1], [4, 5], [4, 4])
    third = group([0, 2], [1, 2], [1, 1])
    graph = wait_graph(
        progress([first, second, third], waits(0, 0, 5), waits(1, 1, 5), waits(2, 2, 2)), 2
    )
    assert (graph.cycle, graph.trapped, graph.sinks) == ((0, 1), (2,), ())


def test_a_receive_waits_for_its_sender_unless_that_stands_in_the_matching_send():
    pipe = group([0, 1], [-1, -1], [-1, -1])
    meets = progress([pipe], waits(0, 0, 1, peers=(1,)), waits(1, 0, 1, peers=(0,)))
    waits_for = progress([pipe], waits(0, 0, 1, peers=(1,)))
    assert not standings(meets)
    assert standings(waits_for) == {1: Standing.OUTSIDE}


def test_one_missing_rank_of_16384_is_found_from_counters():
    world = 16_384
    enqueued = np.full(world, 1001)
    enqueued[777] = 1000
    everyone = group(list(range(world)), enqueued.tolist(), [1000] * world)
    found = progress([everyone], *(waits(r, 0, 1001) for r in range(world) if r != 777))
    assert standings(found) == {777: Standing.OUTSIDE}


def test_ranks_that_are_taken_to_have_arrived_hold_nobody_up():
    found = progress([group([0, 1, 2], [5, 5, -1], [4, 4, -1])], waits(0, 0, 5), waits(1, 0, 5))
    assert not wait_graph(found, 2, arrived={2}).blocked
