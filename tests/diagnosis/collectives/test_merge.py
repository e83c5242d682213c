"""From untidy dumps to counters: restarts, batches, completion marks, unlabelled counters."""

import pytest

from diagnosis.collectives.merge import merge
from diagnosis.core.placement import Placement
from diagnosis.readers.flight_recorder import read_dumps
from tests.diagnosis.recorded_job import (
    GLOO,
    NCCL,
    Form,
    data_parallel,
    dump,
    evidence,
    run,
    steps,
    tensor_and_data_parallel,
    tp_dp_steps,
)


def merged(*contents, placement=Placement()):  # noqa: B008 - frozen
    pieces = [evidence(content, f"x_rank_{rank}") for rank, content in enumerate(contents)]
    read, _ = read_dumps(pieces)
    return merge(read, placement)


def job(world: int = 2):
    return run(data_parallel(world), steps(world, 2))


def entry(record: int, op: str, seq: int, **more):
    return {
        "record_id": record,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "collective_seq_id": seq,
        "p2p_seq_id": 0,
        "profiling_name": f"nccl:{op}",
        "state": "scheduled",
        "retired": False,
        "is_p2p": False,
        **more,
    }


def with_entries(rank: int, *entries):
    content = dump(job(4), rank)
    return {**content, "entries": list(entries), "pg_status": {}}


DONE = {"state": "completed", "retired": True}


def test_counters_come_from_the_entries():
    (found,) = merged(dump(job(), 0), dump(job(), 1)).progress.communicators
    assert found.enqueued.tolist() == [7, 7]
    assert found.completed.tolist() == [7, 7]


def test_a_later_completed_operation_ends_the_earlier_ones_of_its_communicator():
    content = with_entries(0, entry(0, "all_gather", 1), entry(1, "coalesced", 1, **DONE))
    assert not merged(content).progress.waiting


def test_the_oldest_open_operation_over_all_groups_is_where_a_rank_waits():
    other = entry(5, "all_reduce", 9, process_group=("7", "TP"), pg_id=3)
    found = merged(with_entries(0, entry(3, "all_reduce", 2), other)).progress
    assert found.waiting[0].record_id == 3


def test_after_a_restart_only_the_last_sequence_counts():
    entries = [entry(n, "all_reduce", seq, **DONE) for n, seq in enumerate([7, 8, 9, 1, 2])]
    (found,) = merged(with_entries(0, *entries)).progress.communicators
    assert found.enqueued[0] == 2


def test_the_parts_of_a_finished_batch_are_not_open():
    batch = {"is_p2p": True, "p2p_seq_id": 4}
    content = with_entries(
        0,
        entry(0, "send 0->1", 1, **batch),
        entry(1, "recv 0<-3", 1, **batch),
        entry(2, "coalesced", 1, **batch, **DONE),
    )
    assert not merged(content).progress.waiting


def test_an_open_batch_waits_for_all_its_peers():
    batch = {"is_p2p": True, "p2p_seq_id": 4}
    content = with_entries(0, entry(0, "send 0->1", 1, **batch), entry(1, "recv 0<-3", 1, **batch))
    assert merged(content).progress.waiting[0].peers == (1, 3)


def test_a_retired_but_uncompleted_operation_failed_on_nccl_and_ended_on_gloo():
    retired = entry(0, "all_reduce", 1, retired=True)
    gloo = {**retired, "profiling_name": "gloo:all_reduce"}
    assert merged(with_entries(0, retired)).progress.waiting[0].failed
    assert not merged(with_entries(0, gloo)).progress.waiting


def test_counters_without_entries_are_joined_by_the_order_of_creation():
    made = run(tensor_and_data_parallel(4), tp_dp_steps(4, 2))
    content = {**dump(made, 0), "entries": []}
    found = merged(content, dump(made, 1)).progress
    tp = next(c for c in found.communicators if c.desc == "TP_0")
    assert tp.completed[tp.index_of_rank[0]] == 4


def test_counters_that_count_sends_are_not_taken_for_collectives():
    sends = entry(0, "recv 0<-1", 26, is_p2p=True, p2p_seq_id=900)
    content = with_entries(0, sends) | {"pg_status": {"0": {"last_enqueued_collective": 900}}}
    (found,) = merged(content).progress.communicators
    assert found.enqueued[0] == -1


@pytest.mark.parametrize("form", [NCCL, GLOO])
def test_the_members_of_a_group_are_known_or_inferred(form: Form):
    made = run(tensor_and_data_parallel(4), tp_dp_steps(4, 2))
    found = merged(*(dump(made, rank, form) for rank in range(4))).progress
    members = {c.desc: c.ranks.tolist() for c in found.communicators}
    assert (members["TP_1"], members["DP_0"]) == ([2, 3], [0, 2])


def test_groups_that_share_a_name_are_told_apart_by_their_ranks():
    groups = ({"name": "5", "desc": "a", "ranks": ranks} for ranks in ("[0, 1]", "[2, 3]"))
    first, second = ({"version": "2.10", "pg_config": {"5": group}} for group in groups)
    assert len(merged(first, first, second, second).progress.communicators) == 2


def test_a_gathers_sizes_tell_how_many_ranks_the_group_has():
    gather = entry(
        0, "all_gather", 1, input_sizes=[[4]], output_sizes=[[3, 4]], input_dtypes=["Float"],
        output_dtypes=["Float"], process_group=("9", "TP"), pg_id=1,
    )  # fmt: skip
    nothing = {"version": "2.10", "pg_config": {}, "entries": [gather]}
    read, _ = read_dumps([evidence(nothing, f"x_rank_{rank}") for rank in (0, 2)])
    (found,) = merge(read, Placement()).progress.communicators
    assert found.ranks.tolist() == [0, 1, 2]
