"""NCCL Inspector's records of completed calls."""

import json

from diagnosis.core.counters import NOT_TOLD, Timing
from diagnosis.core.words import EvidenceKind
from diagnosis.readers.kinds import kind_of_head
from diagnosis.readers.nccl_inspector import COMPLETED_ONLY, read_inspector
from tests.diagnosis.recorded_job import evidence


def record(rank: int, operation: str, number: int, comm: str = "0x7f8c496ae9f661") -> bytes:
    return (
        json.dumps(
            {
                "header": {"id": comm, "rank": rank, "n_ranks": 8, "nnodes": 2},
                "metadata": {
                    "inspector_output_format_version": "v4.0",
                    "dump_timestamp_us": 1748030377748202,
                    "hostname": f"node-{rank // 4}",
                    "pid": 1639 + rank,
                },
                "coll_perf": {
                    "coll": operation,
                    "coll_sn": number,
                    "coll_msg_size_bytes": 17179869184,
                    "coll_exec_time_us": 61974,
                    "coll_timing_source": "kernel_gpu",
                    "coll_algobw_gbs": 277.2,
                    "coll_busbw_gbs": 485.1,
                },
            }
        ).encode()
        + b"\n"
    )


def test_the_last_numbers_of_all_types_add_up_to_what_a_rank_completed():
    content = record(3, "AllReduce", 8) + record(3, "AllReduce", 12) + record(3, "ReduceScatter", 5)
    (row,) = read_inspector(evidence(content, "inspector.log")).rows
    assert (row.rank, row.completed, row.size) == (3, 17, 8)


def test_completed_calls_are_neither_launches_nor_work_requests():
    sheet = read_inspector(evidence(record(0, "AllReduce", 8), "inspector.log"))
    row = sheet.rows[0]
    assert (row.launched, row.wr, row.wc) == (NOT_TOLD, NOT_TOLD, NOT_TOLD)
    assert COMPLETED_ONLY in sheet.notes


def test_time_and_throughput_of_the_last_call_are_kept():
    (row,) = read_inspector(evidence(record(0, "AllReduce", 8), "inspector.log")).rows
    assert row.timings == (Timing("AllReduce", 8, 61974, 17179869184 / 61974),)


def test_the_kind_is_told_by_content():
    assert kind_of_head(record(0, "AllReduce", 1)) is EvidenceKind.COUNTERS
