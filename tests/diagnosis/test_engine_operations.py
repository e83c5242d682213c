"""Operation traces beside an incident's other evidence."""

import io
from collections.abc import Callable

import pytest

from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.core.words import EvidenceKind, IncidentKind, Role, VerdictClass
from diagnosis.engine import diagnose
from diagnosis.readers.kinds import kind_of_head

HEAD = "dp_rank,stage,rank,step,optype,start_ts,duration,mb_id"
PLACEMENT = Placement.of(
    RankPlace(rank, f"node-{rank // 4:03d}", gpu=rank % 4) for rank in range(16)
)


def trace_of(seconds: Callable[[int, int], float]) -> Evidence:
    """Five steps of 4 replicas × 4 stages; a worker computes `seconds(replica, stage)` a batch."""
    rows = [
        f"{dp},{stage},{dp * 4 + stage},{step},{kind},0,{seconds(dp, stage)},{batch}"
        for dp in range(4)
        for stage in range(4)
        for step in range(5)
        for kind in ("forward-compute", "backward-compute")
        for batch in range(16)
    ]
    content = "\n".join([HEAD, *rows, ""]).encode()
    return Evidence(name="operations.csv", open=lambda: io.BytesIO(content), size=len(content))


def test_the_kind_of_an_operation_trace_is_told_by_its_header():
    assert kind_of_head(f"{HEAD}\n0,0,0,7".encode()) is EvidenceKind.METRICS
    assert kind_of_head(b"slow: optype=forward mb_id=3\n") is EvidenceKind.LOG


def test_a_slow_worker_of_an_operation_trace_is_named_with_its_host_and_gpu():
    slow = trace_of(lambda dp, stage: 1.9 if (dp, stage) == (2, 1) else 1.0)

    answer = diagnose([slow], placement=PLACEMENT)

    suspect = answer.suspects[0]
    assert answer.verdict.kind is IncidentKind.DEGRADATION
    assert (suspect.target.host, suspect.target.gpu, suspect.role) == ("node-002", 1, Role.CULPRIT)


@pytest.mark.parametrize("stage", [0, 3])
def test_a_heavy_stage_of_an_operation_trace_accuses_nobody(stage: int):
    heavy = trace_of(lambda _, at: 1.9 if at == stage else 1.0)

    answer = diagnose([heavy], placement=PLACEMENT)

    assert answer.verdict.cls is VerdictClass.USER
    assert answer.suspects == ()


def test_an_operation_trace_that_cannot_be_read_says_why():
    content = f"{HEAD}\n".encode()
    empty = Evidence(name="empty.csv", open=lambda: io.BytesIO(content), size=len(content))

    assert "no forward" in diagnose([empty]).skipped[0].reason


def test_rows_of_an_operation_trace_without_a_place_are_left_out():
    slow = trace_of(lambda dp, stage: 1.9 if (dp, stage) == (2, 1) else 1.0)
    with slow.open() as stream:
        content = stream.read() + b"inf,0,0,0,forward-compute,0,1,0\n"
    odd = Evidence(name="odd.csv", open=lambda: io.BytesIO(content), size=len(content))

    assert diagnose([odd], placement=PLACEMENT).suspects[0].target.host == "node-002"
