import pytest

from diagnosis.core.words import Role, VerdictClass
from tests.diagnosis.triage.judged import isolated, judged, placed, timeout_line


def test_the_rank_in_another_collective_is_named_and_it_is_user_code() -> None:
    text = "".join(timeout_line(rank, op="BROADCAST", seq=9) for rank in (1, 2, 3))
    conclusion = judged({"train.log": timeout_line(0, op="ALLGATHER", seq=11) + text})
    assert conclusion.verdict.cls is VerdictClass.USER
    assert [one.target.rank for one in conclusion.suspects] == [0]
    assert isolated(conclusion) == []


def test_the_rank_of_another_size_is_named() -> None:
    text = "".join(timeout_line(rank, size=4 if rank != 2 else 5) for rank in range(4))
    assert [one.target.rank for one in judged({"train.log": text}).suspects] == [2]


def test_sizes_of_an_all_to_all_may_differ() -> None:
    text = "".join(timeout_line(rank, op="ALLTOALL_BASE", size=rank + 1) for rank in range(4))
    assert judged({"train.log": text}).verdict.cls is VerdictClass.DISTRIBUTED


def test_two_sides_of_one_size_leave_both_possible() -> None:
    text = timeout_line(0, size=4) + timeout_line(1, size=5)
    suspects = judged({"train.log": text}).suspects
    assert {(one.target.rank, one.role) for one in suspects} == {
        (0, Role.POSSIBLE),
        (1, Role.POSSIBLE),
    }


def test_different_groups_are_not_compared() -> None:
    lines = [
        timeout_line(rank, op=op, seq=rank).replace(f"[Rank {rank}]", f"[Rank {rank % 2}]")
        for rank, op in ((4, "ALLREDUCE"), (5, "ALLREDUCE"), (8, "BROADCAST"), (9, "BROADCAST"))
    ]
    assert judged({"train.log": "".join(lines)}).verdict.cls is VerdictClass.DISTRIBUTED


def _status(rank: int, enqueued: int) -> str:
    return (
        f"[rank{rank}]:[E304 02:10:01.0 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID 0(default_pg) "
        f"Rank {rank}] Received a dump signal due to a collective timeout from  rank 1 and we "
        f"will try our best to dump the debug info. Last enqueued NCCL work: {enqueued}, last "
        f"completed NCCL work: {enqueued}.\n"
    )


def test_the_rank_that_has_not_enqueued_the_work_is_possible() -> None:
    text = "".join(timeout_line(rank, seq=22) for rank in (1, 2, 3)) + _status(0, enqueued=21)
    conclusion = judged({"train.log": text})
    assert [(one.target.rank, one.role) for one in conclusion.suspects] == [(0, Role.POSSIBLE)]


def test_more_silent_ranks_than_speakers_say_nothing() -> None:
    text = timeout_line(0) + timeout_line(1)
    assert judged({"train.log": text}, placement=placed(1)).suspects == ()


@pytest.mark.parametrize("first", [0, 7])
def test_the_neighbours_name_the_local_rank_that_closed_first(first: int) -> None:
    text = "".join(
        f"node-01:{rank}:200 [{rank}] NCCL INFO [Service thread] Connection closed by "
        f"localRank {first}\n"
        for rank in range(8)
        if rank != first
    )
    conclusion = judged({"train.log": text + timeout_line(3)})
    assert [one.target.rank for one in conclusion.suspects] == [first]


def test_the_rank_that_times_out_in_an_earlier_work_is_possible() -> None:
    text = "".join(timeout_line(rank, seq=1001 if rank != 2 else 1000) for rank in range(4))
    conclusion = judged({"train.log": text})
    assert [(one.target.rank, one.role) for one in conclusion.suspects] == [(2, Role.POSSIBLE)]
    assert isolated(conclusion) == []


def test_a_rank_ahead_of_the_others_is_not_blamed() -> None:
    text = "".join(timeout_line(rank, seq=1000 if rank != 2 else 1001) for rank in range(4))
    assert judged({"train.log": text}).suspects == ()


def test_two_halves_in_two_works_blame_nobody() -> None:
    text = "".join(timeout_line(rank, seq=1000 + rank % 2) for rank in range(4))
    assert judged({"train.log": text}).suspects == ()


def _differs(rank: int, other: int) -> str:
    call = "CollectiveFingerPrint(SequenceNumber=42, OpType={}, TensorShape=[1])"
    return (
        f"[rank{rank}]: RuntimeError: Detected mismatch between collectives on ranks. Rank {rank} "
        f"is running collective: {call.format('ALLREDUCE')}, but Rank {other} is running "
        f"collective: {call.format('BROADCAST')}\n"
    )


@pytest.mark.parametrize(
    ("reports", "named"),
    [
        ([(3, 0)], (0, Role.POSSIBLE)),
        ([(3, 0), (0, 3), (1, 3), (2, 3)], (3, Role.CULPRIT)),
        ([(1, 0), (0, 1)], (None, Role.POSSIBLE)),
    ],
)
def test_of_calls_that_differ_the_rank_that_most_name_is_the_odd_one(reports, named) -> None:
    text = "".join(_differs(rank, other) for rank, other in reports)
    first = judged({"train.log": text}).suspects[0]
    assert (first.target.rank, first.role) == named


def test_a_rank_that_waits_in_what_its_peers_completed_called_the_same() -> None:
    lines = [
        timeout_line(rank, op=op, seq=seq) + _failure(rank, seq, completed=seq - 1)
        for rank, op, seq in (
            (0, "ALLREDUCE", 58),
            (1, "ALLREDUCE", 58),
            (2, "BROADCAST", 42),
            (3, "ALLREDUCE", 58),
        )
    ]
    assert judged({"train.log": "".join(lines)}).verdict.cls is VerdictClass.DISTRIBUTED


def _failure(rank: int, seq: int, completed: int) -> str:
    return (
        f"[rank{rank}]:[E304 02:10:00.5 ProcessGroupNCCL.cpp:2252] [PG ID 0 PG GUID 0(default_pg) "
        f"Rank {rank}]  failure detected by watchdog at work sequence id: {seq} PG status: last "
        f"enqueued work: 60, last completed work: {completed}\n"
    )
