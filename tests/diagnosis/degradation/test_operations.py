"""Operation traces: a slow worker, a heavy stage, uneven sequences, and nothing at all."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from diagnosis.core.operations import OperationTrace
from diagnosis.degradation.answers import Answer
from diagnosis.degradation.operations import (
    ComputeContrast,
    SlowdownCause,
    one_forward_one_backward,
)
from diagnosis.degradation.operations_report import operations_diagnosis
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.operations import is_operation_trace, read_operations

SCHEMA = json.loads(Path("docs/diagnosis.schema.json").read_text())


def a_trace(seed: int = 0) -> OperationTrace:
    """Ten steps of 4 replicas × 4 stages × 8 micro-batches, all alike but for 1 % of noise."""
    random = np.random.default_rng(seed)
    noise = 1 + 0.01 * random.normal(size=(2, 10, 4, 4, 8))
    return OperationTrace(noise[0], 2 * noise[1], tuple(range(10)), np.arange(16).reshape(4, 4))


def test_equal_workers_have_nothing_to_explain() -> None:
    judgement = ComputeContrast()(a_trace())
    assert (judgement.answer, judgement.cause) == (Answer.HEALTHY, SlowdownCause.NONE)


def test_a_slow_worker_is_named_alone() -> None:
    trace = a_trace()
    trace.forward[:, 1, 2] *= 1.8
    trace.backward[:, 1, 2] *= 1.8
    judgement = ComputeContrast()(trace)
    assert judgement.cause is SlowdownCause.WORKER
    assert [(worker.replica, worker.stage) for worker in judgement.workers] == [(1, 2)]
    assert judgement.workers[0].ratio == pytest.approx(1.8, abs=0.05)


def test_a_heavy_stage_accuses_no_worker() -> None:
    trace = a_trace()
    trace.forward[:, :, 3] *= 1.6
    trace.backward[:, :, 3] *= 1.6
    judgement = ComputeContrast()(trace)
    assert (judgement.cause, judgement.stage) == (SlowdownCause.STAGE, 3)
    assert judgement.workers == ()


def test_uneven_sequences_accuse_no_worker() -> None:
    trace = a_trace()
    length = np.random.default_rng(1).lognormal(0, 0.6, size=(10, 4, 1, 8))
    judgement = ComputeContrast()(
        OperationTrace(trace.forward * length, trace.backward * length, trace.steps, trace.ranks)
    )
    assert judgement.cause is SlowdownCause.SEQUENCES
    assert judgement.workers == ()


def test_a_trace_without_a_complete_step_cannot_be_judged() -> None:
    trace = a_trace()
    trace.forward[:, 0, 0, 0] = np.nan
    assert ComputeContrast()(trace).answer is Answer.CANNOT_TELL


def test_the_schedule_runs_each_operation_once_and_after_its_input() -> None:
    order = one_forward_one_backward(4, 6)
    place = {operation: index for index, operation in enumerate(order)}
    assert len(place) == 2 * 4 * 6
    assert all(place[True, 1, batch] > place[True, 0, batch] for batch in range(6))
    assert all(place[False, 0, batch] > place[False, 1, batch] for batch in range(6))


def test_the_diagnosis_keeps_to_the_contract() -> None:
    trace = a_trace()
    trace.forward[:, 1, 2] *= 1.8
    trace.backward[:, 1, 2] *= 1.8
    found = operations_diagnosis(ComputeContrast()(trace), trace, file="t.csv")
    shape = json.loads(json.dumps(found.to_dict()))
    jsonschema.validate(shape, SCHEMA)
    assert (shape["suspects"][0]["target"]["kind"], shape["suspects"][0]["target"]["rank"]) == (
        "rank",
        6,
    )


def test_a_table_of_operations_is_read() -> None:
    rows = ["dp_rank,stage,rank,step,optype,start_ts,duration,mb_id"]
    rows += [
        f"{dp},{stage},{dp * 2 + stage},{step},{kind},0,{1.5 if kind[0] == 'f' else 3},{mb}"
        for dp in range(2)
        for stage in range(2)
        for step in (7, 9)
        for kind in ("forward-compute", "backward-compute", "forward-send")
        for mb in range(3)
    ]
    content = "\n".join(rows).encode()
    assert is_operation_trace(content)
    trace = read_operations(content)
    assert trace.forward.shape == (2, 2, 2, 3)
    assert (trace.steps, trace.ranks.tolist()) == ((7, 9), [[0, 1], [2, 3]])
    assert np.all(trace.computing == 4.5)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"optype,step\nforward-compute,1\n", "lacks"),
        (b"dp_rank,stage,step,optype,duration,mb_id\n0,0,1,gc,1,-1\n", "no forward"),
        (b"dp_rank,stage,step,optype,duration,mb_id\na,0,1,forward-compute,1,0\n", "no number"),
        (
            b"dp_rank,stage,step,optype,duration,mb_id\n999999999,0,1,forward-compute,1,99999999\n",
            "too large",
        ),
    ],
)
def test_what_is_no_operation_trace_says_why(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableEvidence, match=reason):
        read_operations(content)


RECORDED = {
    "AR": (SlowdownCause.WORKER, 1.973, [(0, 0)]),
    "ST": (SlowdownCause.STAGE, 1.179, []),
    "SE": (SlowdownCause.SEQUENCES, 1.537, []),
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_traces_have_their_cause_and_their_slowdown(cases: Path, name: str) -> None:
    pytest.importorskip("pyarrow", reason="recorded traces are Parquet: pip install pyarrow")
    folder = cases / "metrics" / "bytedance_straggler"
    judgement = ComputeContrast()(read_operations((folder / f"trace-{name}.parquet").read_bytes()))
    cause, slowdown, workers = RECORDED[name]
    assert judgement.cause is cause
    assert judgement.slowdown == pytest.approx(slowdown, rel=0.02)
    assert [(worker.replica, worker.stage) for worker in judgement.workers] == workers
