"""The state that NCCLX and ROCm builds add to a dump: work requests of their proxies."""

import json

from diagnosis.readers.flight_recorder import read_dumps
from tests.diagnosis.recorded_job import data_parallel, dump, evidence, run, steps

ACTIVE = [
    {
        "commHash": "abc", "opCount": 14, "rank": 1, "remoteRank": 2, "opType": "SEND",
        "nSteps": 8, "status": "IN_PROGRESS", "startTs": 1772438400000000,
        "POSTED": {"step": 6, "ts": 1}, "TRANSMITTED": {"step": 4, "ts": 1}, "DONE": {"step": 4},
    },
    {
        "commHash": "abc", "opCount": 14, "rank": 1, "remoteRank": 0, "opType": "RECV",
        "POSTED": {"step": 6}, "RECEIVED": {"step": 6}, "DONE": {"step": 6},
    },
]  # fmt: skip


def rows(state: object):
    content = {**dump(run(data_parallel(4), steps(4, 2)), 1), "nccl_comm_state": state}
    read, skipped = read_dumps([evidence(content, "comm_lib_trace_rank_1")])
    assert not skipped
    return read[0].counters


def state(**values: object) -> dict[str, object]:
    texts = {name: json.dumps(value) for name, value in values.items()}
    return {"abc": {"commHash": '"abc"', "rank": "1", "nRanks": "4", **texts}}


def test_posted_and_finished_steps_of_active_operations_are_wr_and_wc():
    (row,) = rows(state(PT_activeOps=ACTIVE, CT_currentColl={"opCount": 14}))
    assert (row.global_rank, row.rank, row.size, row.launched) == (1, 1, 4, 14)
    assert (row.wr, row.wc) == (12, 10)


def test_the_oldest_request_names_its_other_end():
    (row,) = rows(state(PT_activeOps=ACTIVE))
    assert row.oldest is not None
    assert (row.oldest.peer, row.oldest.posted) == (2, 1772438400.0)


def test_without_a_proxy_trace_work_requests_stay_unknown():
    (row,) = rows(state(CT_pendingColls=[{"opCount": 3}, {"opCount": 5}]))
    assert (row.launched, row.wr, row.wc) == (5, -1, -1)


def test_a_dump_without_such_a_state_has_no_rows():
    assert rows({}) == ()


def test_a_state_that_is_no_state_is_passed_over():
    assert rows({"abc": "[[[", "d": 5, "e": {"rank": "x", "PT_activeOps": "{"}}) == ()
