"""Slow ranks by the time inside collectives and the time for a byte, of any source of counters."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from diagnosis.collectives.counters_verdict import localise_sheet
from diagnosis.core.counters import CounterRow, CounterSheet, Timing
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.words import Action, Role, VerdictClass
from tests.diagnosis.collectives.judging import blamed
from tests.diagnosis.recorded_job import placed

#: What a rank's call takes: (rank, number of the call) → µs inside, bytes per µs.
Calls = Callable[[int, int], tuple[float, float]]


def running(
    calls: Calls, *, ranks: Iterable[int] = range(8), comm: str = "dp", number: int = 6
) -> list[CounterRow]:
    """Ranks of a job in motion, each timed in its last calls."""
    return [
        CounterRow(
            comm, rank, "test", "counters.jsonl", 10 * rank + call, global_rank=rank,
            time=100.0 + call, launched=40 + call, completed=40 + call,
            timings=(Timing("all_reduce", 40 + call, *calls(rank, call)),),
        )
        for rank in ranks
        for call in range(number)
    ]  # fmt: skip


def judged(rows: list[CounterRow]) -> Conclusion:
    found, _ = localise_sheet(CounterSheet(tuple(rows)), placement=placed(8))
    return found


def usual(rank: int, call: int) -> tuple[float, float]:
    noise = np.random.default_rng([rank, call]).normal(size=2)
    return 1000 * (1 + 0.05 * noise[0]), 4 * (1 + 0.05 * noise[1])


def test_the_rank_that_is_inside_collectives_for_the_shortest_time_computes_slowly():
    found = judged(running(lambda rank, call: (150.0, 4.0) if rank == 5 else usual(rank, call)))

    assert blamed(found) == [5]
    assert found.suspects[0].target.host == "node-002"
    assert "computing" in found.verdict.summary
    assert found.recommendations[0].action is Action.RUN_OFFLINE


def test_the_rank_that_takes_longest_for_a_byte_communicates_slowly():
    found = judged(running(lambda rank, call: (1000.0, 1.5) if rank == 2 else usual(rank, call)))

    assert blamed(found) == [2]
    assert found.suspects[0].fault == "network-slow"
    assert found.recommendations[0].action is Action.CHECK_LINK


def test_the_two_ends_of_a_slow_link_are_both_possible():
    slow = judged(
        running(lambda rank, call: (1000.0, 1.0) if rank in {2, 6} else usual(rank, call))
    )

    assert blamed(slow, Role.POSSIBLE) == [2, 6]


@pytest.mark.parametrize(
    "calls",
    [
        usual,
        lambda rank, call: (150.0, 0.5) if (rank, call) == (5, 5) else usual(rank, call),
        lambda rank, call: (150.0, 4.0) if rank in {4, 5, 6, 7} else usual(rank, call),
        lambda rank, call: (1000.0 * (call + 1), 4.0 / (call + 1)),
    ],
    ids=["nobody", "in one call", "a replica that waits", "calls of several sizes"],
)
def test_nobody_is_named_where_nobody_is_slow_alone_and_for_long(calls: Calls):
    assert judged(running(calls)).suspects == ()


def test_calls_are_compared_by_their_number_where_the_files_end_apart():
    rows = running(lambda rank, call: (1000.0 * (call + 1), 4.0), number=8)

    assert (
        judged([row for row in rows if row.global_rank != 3 or (row.time or 0) < 106]).suspects
        == ()
    )


def test_a_communicator_of_all_ranks_is_left_out_where_there_are_smaller_ones():
    stages = [
        *running(usual, ranks=range(4), comm="a"),
        *running(usual, ranks=range(4, 8), comm="b"),
    ]
    mixed = running(lambda rank, call: (150.0, 4.0) if rank == 7 else usual(rank, call), comm="all")

    assert judged([*stages, *mixed]).suspects == ()


def test_two_timed_calls_or_two_ranks_are_too_few():
    def slow(rank: int, call: int) -> tuple[float, float]:
        return (150.0, 4.0) if rank == 1 else usual(rank, call)

    assert judged(running(slow, number=2)).suspects == ()
    assert judged(running(slow, ranks=range(2))).suspects == ()


def test_a_job_that_stands_still_is_a_hang_however_slow_a_rank_was():
    rows = running(lambda rank, call: (150.0, 4.0) if rank == 5 else usual(rank, call))
    last = [row for row in rows if row.time == 105.0]
    behind = [
        CounterRow("dp", row.rank, "test", "later.jsonl", row.line, global_rank=row.rank, time=at,
                   launched=46 if row.rank == 3 else 47, completed=46)
        for row in last
        for at in (200.0, 260.0)
    ]  # fmt: skip

    found = judged([*rows, *behind])

    assert blamed(found) == [3]
    assert found.verdict.cls is not VerdictClass.DEGRADATION
