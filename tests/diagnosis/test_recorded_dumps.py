"""Recorded Flight Recorder dumps with known answers, from gloo, in NCCL's form, and from NCCL."""

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

from diagnosis.collectives.procedure import localise
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.core.words import Action, Role
from diagnosis.readers.flight_recorder import read_dumps
from diagnosis.readers.placement import read_placement

FOLDERS = ("flight_recorder", "flight_recorder_nccl_form", "flight_recorder_nvrx")
MISUSE = {
    "op_mismatch", "size_mismatch", "dtype_mismatch", "skipped_collective", "uneven_inputs",
    "cross_group_order_inversion",
}  # fmt: skip


def found_cases() -> list[object]:
    root = os.environ.get("AEGIS_CASES_DIR")
    if not root:
        reason = "recorded cases: set AEGIS_CASES_DIR to their folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    return [
        pytest.param(case, id=f"{folder}/{case.name}")
        for folder in FOLDERS
        for case in sorted((Path(root) / folder).iterdir())
        if case.is_dir()
    ]


def truth_of(case: Path) -> dict[str, Any]:
    written = case / "truth" / "truth.json"
    if written.exists():
        truth: dict[str, Any] = json.loads(written.read_text())
        return truth
    log = (case / "truth" / "fault_injection.log").read_text()
    ranks = re.search(r"Fault ranks: (\[.*?\])", log)
    assert ranks
    return {"kind": "injected", "culprits": json.loads(ranks[1])}


def judged(case: Path, seed: int = 0) -> Conclusion:
    files = sorted(path for path in case.iterdir() if re.search(r"(rank_|_dump_)\d+$", path.name))
    random.Random(seed).shuffle(files)  # noqa: S311 - the order of files, no secret
    read, skipped = read_dumps([Evidence.from_path(path) for path in files])
    assert not skipped
    where = case / "placement.json"
    placement = read_placement(where.read_bytes()) if where.exists() else Placement()
    found, _ = localise(read, placement=placement)
    return found


@pytest.mark.parametrize("case", found_cases())
def test_the_recorded_fault_is_found(case: Path):
    truth, found = truth_of(case), judged(case)
    suspects = [suspect for suspect in found.suspects if suspect.role is not Role.VICTIM]
    named = [-1 if s.target.rank is None else s.target.rank for s in suspects]
    culprits = truth["culprits"]
    if truth["kind"] == "healthy":
        assert found.verdict.cls in {"healthy", "unknown"}
        assert not suspects
        assert Action.ISOLATE_HOST not in {r.action for r in found.recommendations}
        return
    assert sorted(named[: len(culprits)]) == culprits
    assert (found.verdict.cls == "user") == (truth["kind"] in MISUSE)
    assert all(suspect.target.host for suspect in suspects)


@pytest.mark.parametrize("case", found_cases())
def test_the_answer_does_not_depend_on_the_order_of_the_files(case: Path):
    assert judged(case, seed=1) == judged(case, seed=2)
