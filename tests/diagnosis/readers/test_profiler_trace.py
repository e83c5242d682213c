"""Chrome-trace events of NCCL's example profiler: the stock source of work requests."""

import json

import pytest

from diagnosis.core.counters import NOT_TOLD
from diagnosis.core.words import EvidenceKind
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.kinds import kind_of_head
from diagnosis.readers.profiler_trace import read_profiler_trace
from tests.diagnosis.recorded_job import evidence


def event(category: str, phase: str, number: int, at: float = 0.0, **args: object) -> bytes:
    name = "AllReduce" if category == "COLL" else category
    shape = {"name": name, "cat": category, "ph": phase, "id": number, "pid": 77, "tid": 1}
    return json.dumps({**shape, "ts": at, "args": args}).encode() + b",\n"


COLLECTIVE = event("COLL", "b", 1, SeqNum=14, CommHash=0xABC, Rank=2, Count=1024)


def request(number: int, at: float, work: int) -> bytes:
    return event("NET_IB", "b", number, at, device=1, qp_num=9, opcode=0, wr_id=work, size=65536)


def ended(number: int) -> bytes:
    return event("NET_IB", "e", number, 99.0)


def proxy(peer: int) -> bytes:
    return event("PROXY", "b", 5, Channel=0, Peer=peer, Steps=4, ChunkSize=65536, transSize=1)


def test_posted_requests_are_wr_and_polled_completions_wc():
    content = b"[\n" + COLLECTIVE + request(10, 1e6, 1) + request(11, 2e6, 2) + ended(10) + b"{}]"
    (row,) = read_profiler_trace(evidence(content, "prof-abc-2.json")).rows
    assert (row.communicator, row.rank, row.wr, row.wc) == ("0xabc", 2, 2, 1)


def test_the_oldest_outstanding_request_has_the_peer_of_its_proxy_operation():
    content = b"[\n" + COLLECTIVE + proxy(3) + request(10, 5e6, 1) + proxy(1) + request(11, 6e6, 2)
    (row,) = read_profiler_trace(evidence(content, "x")).rows
    assert row.oldest is not None
    assert (row.oldest.peer, row.oldest.posted, row.oldest.device) == (3, 5.0, "1")


def test_without_network_events_work_requests_stay_unknown():
    content = b"[\n" + COLLECTIVE + event("COLL", "e", 1)
    (row,) = read_profiler_trace(evidence(content, "x")).rows
    assert (row.launched, row.completed, row.wr, row.wc) == (14, 14, NOT_TOLD, NOT_TOLD)


def test_a_trace_that_was_cut_off_is_read_as_far_as_it_goes():
    content = b"[\n" + COLLECTIVE + request(10, 1e6, 1) + b'{"name": "NET_IB", "ca'
    sheet = read_profiler_trace(evidence(content, "x"))
    assert sheet.rows[0].wr == 1
    assert "1 lines are no events" in sheet.notes[0]


def test_events_without_a_collective_belong_to_nobody():
    with pytest.raises(UnreadableEvidence, match="whose they are"):
        read_profiler_trace(evidence(b"[\n" + request(1, 1.0, 1), "x"))


def test_the_kind_is_told_by_content():
    assert kind_of_head(b"[\n" + COLLECTIVE) is EvidenceKind.COUNTERS
