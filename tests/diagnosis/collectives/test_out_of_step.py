"""Pipelines of two stages: who left out a send or receive is told by its like in the others."""

from collections.abc import Sequence

from diagnosis.collectives.procedure import localise
from diagnosis.core.collectives import RankDump
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.words import VerdictClass
from diagnosis.readers.flight_recorder import read_dumps
from tests.diagnosis.collectives.judging import blamed
from tests.diagnosis.recorded_job import START_NS, evidence, placed

WORLD, ROUNDS = 8, 4
NORM = "all_reduce"
FIRST, LAST = ("send 0->1", "recv 0<-1"), ("recv 1<-0", "send 1->0")


def calls(rank: int) -> list[str]:
    return [*(LAST if rank % 2 else FIRST) * ROUNDS, NORM]


def dumped(rank: int, made: Sequence[str], over: int) -> RankDump:
    """The rank's dump: its calls, of which the first `over` have ended."""
    pipeline = str(1 + rank // 2)
    entries = [
        {
            "record_id": number,
            "pg_id": int(call != NORM),
            "process_group": ("0", "default_pg") if call == NORM else (pipeline, "PIPELINE"),
            "collective_seq_id": int(call == NORM),
            "p2p_seq_id": 0 if call == NORM else 1 + number,
            "profiling_name": f"nccl:{call}",
            "time_created_ns": START_NS + number * 1_000_000,
            "input_sizes": [[16]],
            "output_sizes": [[16]],
            "input_dtypes": ["Float"],
            "output_dtypes": ["Float"],
            "state": "completed" if number < over else "scheduled",
            "is_p2p": call != NORM,
        }
        for number, call in enumerate(made)
    ]
    pair = [rank - rank % 2, rank - rank % 2 + 1]
    config = {
        "0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(WORLD)))},
        pipeline: {"name": pipeline, "desc": "PIPELINE", "ranks": str(pair)},
    }
    content = {"version": "2.10", "pg_config": config, "pg_status": {}, "entries": entries}
    return read_dumps([evidence(content, f"trace_rank_{rank}")])[0][0]


def judged(changed: dict[int, RankDump]) -> Conclusion:
    left = [
        changed.get(rank) or dumped(rank, calls(rank), over=2 * ROUNDS) for rank in range(WORLD)
    ]
    return localise(left, placement=placed(WORLD))[0]


def test_of_two_that_send_to_each_other_the_one_whose_like_receive_is_named():
    late = calls(5)
    del late[6]
    found = judged({4: dumped(4, calls(4)[:7], over=6), 5: dumped(5, late[:7], over=6)})
    assert (found.verdict.cls, blamed(found)) == (VerdictClass.USER, [5])


def test_who_went_on_to_the_collective_after_a_receive_less_is_named():
    early = calls(4)
    del early[7]
    found = judged({4: dumped(4, early, over=7), 5: dumped(5, calls(5)[:8], over=7)})
    assert (found.verdict.cls, blamed(found)) == (VerdictClass.USER, [4])


def test_two_that_stand_where_their_like_stood_are_not_out_of_step():
    found = judged({4: dumped(4, calls(4)[:7], over=6), 5: dumped(5, calls(5)[:7], over=6)})
    assert not blamed(found)
