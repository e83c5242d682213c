"""RCCL's proxy trace: posted and completed steps of active operations."""

from diagnosis.core.words import EvidenceKind
from diagnosis.readers.kinds import kind_of_head
from diagnosis.readers.proxy_trace import proxy_operation, read_proxy_trace
from tests.diagnosis.recorded_job import evidence


def line(rank: int, peer: int, way: str, posted: int, done: int, created: float = 10.0) -> str:
    return (
        f"createT:{created}, lastT:{created + 1}, pot:1, sendT:2, cntNm:0, <0xabc:42:7>, "
        f"[fu,pr,pa,tb,ck]:[1,2,3,4,5], {rank}->{peer}({way}), chan:3, status:SENDING, ns:16, "
        f"nb:1048576, po:{posted}, ke:{posted}, tail/h:1, recvT:0, connSz/h:1, "
        f"trans:{done}, flushed:0, recvd:{done}, done:{done}"
    )


def test_a_line_gives_both_ends_and_its_steps():
    operation = proxy_operation(line(4, 5, "S", posted=12, done=8), 1)
    assert operation is not None
    assert (operation.rank, operation.peer, operation.sends) == (4, 5, True)
    assert (operation.posted, operation.completed, operation.count) == (12, 8, 42)


def test_work_requests_of_a_rank_add_up_over_its_operations():
    text = "\n".join([line(4, 5, "S", 12, 8, 20.0), line(4, 6, "R", 9, 9), line(4, 7, "S", 3, 1)])
    (row,) = read_proxy_trace(evidence(text.encode(), "rccl.log")).rows
    assert (row.communicator, row.rank, row.wr, row.wc) == ("0xabc", 4, 24, 18)


def test_the_oldest_request_that_is_not_done_is_named():
    text = "\n".join([line(4, 5, "S", 12, 8, 20.0), line(4, 7, "S", 3, 1, 10.0)])
    (row,) = read_proxy_trace(evidence(text.encode(), "rccl.log")).rows
    assert row.oldest is not None
    assert row.oldest.peer == 7


def test_a_line_without_its_counts_is_passed_over():
    assert proxy_operation("<0xabc:1:2>, 4->5(S), chan:1, status:INIT, po:", 1) is None


def test_the_kind_is_told_by_content_also_behind_other_lines():
    text = "RCCL proxy trace of rank 4\n" + line(4, 5, "S", 12, 8)
    assert kind_of_head(text.encode()) is EvidenceKind.COUNTERS
