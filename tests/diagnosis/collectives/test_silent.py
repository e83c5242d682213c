"""Which of several silent ranks stopped first, by where the others wait."""

from collections.abc import Mapping, Sequence

from diagnosis.collectives.silent import implicated
from diagnosis.collectives.wait_graph import wait_graph
from diagnosis.core.collectives import (
    CollectiveProgress,
    Communicator,
    OpenOperation,
    Signature,
    counters_only,
)

SUM = Signature("all_reduce")


def group(kind: str, ranks: Sequence[int], seq: int, waiting: Sequence[int]) -> Communicator:
    """All members have completed `seq` - 1; those that wait have launched `seq`."""
    return counters_only(
        f"{kind} of {ranks[0]}",
        kind,
        ranks,
        enqueued=[seq if rank in waiting else seq - 1 for rank in ranks],
        completed=[seq - 1] * len(ranks),
    )


def blamed(
    communicators: Sequence[Communicator], waits: Mapping[int, tuple[int, int]], *silent: int
) -> Mapping[int, float]:
    """`waits`: rank → (communicator, sequence number)."""
    waiting = {
        rank: OpenOperation(rank, comm, seq, SUM, seq, f"rank_{rank}")
        for rank, (comm, seq) in waits.items()
    }
    world = {int(rank) for one in communicators for rank in one.ranks}
    progress = CollectiveProgress(
        tuple(communicators),
        waiting=waiting,
        open_in={(op.communicator, rank): op for rank, op in waiting.items()},
        world=tuple(sorted(world)),
        reported=frozenset(world.difference(silent)),
    )
    return implicated(progress, wait_graph(progress, 2), silent)


def test_the_silent_rank_that_alone_is_waited_for_is_implicated_most():
    pair, wide = group("A", [0, 3], 5, [0]), group("B", [1, 2, 3, 4], 7, [1, 2])
    weights = blamed([pair, wide], {0: (0, 5), 1: (1, 7), 2: (1, 7)}, 3, 4)
    assert weights == {3: 0.75, 4: 0.25}


def test_a_silent_rank_waited_for_only_beside_those_that_wait_is_not_implicated():
    narrow, wide = group("A", [0, 3], 5, [0]), group("B", [0, 1, 4], 7, [1])
    assert blamed([narrow, wide], {0: (0, 5), 1: (1, 7)}, 3, 4) == {3: 1.0, 4: 0.0}


def test_a_silent_rank_that_may_stand_where_its_like_do_is_not_implicated():
    """Ranks 0 and 1 stand in the stage's sum before the one that ties the stages: so may 2."""
    stage, other = group("stage", [0, 1, 2, 3], 5, [0, 1]), group("tensor", [3, 4], 9, [3])
    ties = [group("tie", [rank, 10 + rank], 2, [10 + rank]) for rank in (0, 1, 2)]
    waits = {0: (0, 5), 1: (0, 5), 3: (1, 9), 10: (2, 2), 11: (3, 2), 12: (4, 2)}
    assert blamed([stage, other, *ties], waits, 2, 4) == {2: 0.0, 4: 1.0}


def test_without_a_wait_that_tells_all_silent_ranks_are_alike():
    assert blamed([group("A", [0, 1, 2, 3], 5, [])], {}, 2, 3) == {2: 0.5, 3: 0.5}
