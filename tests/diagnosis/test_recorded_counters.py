"""Hangs from public threads: what counters in logs say agrees with the answer, or says nothing."""

import json
import os
from pathlib import Path

import pytest

from diagnosis.collectives.reports import localise_counters
from diagnosis.core.evidence import Evidence
from diagnosis.core.words import Action, Role
from diagnosis.readers.collective_reports import read_collective_reports


def found_cases() -> list[object]:
    root = os.environ.get("AEGIS_CASES_DIR")
    if not root:
        reason = "recorded cases: set AEGIS_CASES_DIR to their folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    return [
        pytest.param(case, id=case.name)
        for case in sorted((Path(root) / "nccl").iterdir())
        if (case / "truth" / "expected.json").exists()
    ]


@pytest.mark.parametrize("case", found_cases())
def test_counters_never_name_a_rank_that_is_not_to_blame(case: Path):
    answer = json.loads((case / "truth" / "expected.json").read_text())
    files = [Evidence.from_path(path) for path in sorted(case.iterdir()) if path.is_file()]
    found = localise_counters(read_collective_reports(files))
    if found is None:
        return
    ranks = answer["expected"].get("culprit_ranks") or []
    named = [s for s in found.suspects if s.role is not Role.VICTIM]
    assert found.verdict.cls in answer["class_accept"]
    assert {suspect.target.rank for suspect in named} <= set(ranks)
    if not ranks:
        assert Action.ISOLATE_HOST not in {r.action for r in found.recommendations}


@pytest.mark.parametrize("case", ["01", "11"])
def test_threads_that_only_counters_or_stacks_decide_are_decided(case: str):
    root = os.environ.get("AEGIS_CASES_DIR")
    if not root:
        pytest.skip("recorded cases: set AEGIS_CASES_DIR to their folder")
    folder = Path(root) / "nccl" / case
    answer = json.loads((folder / "truth" / "expected.json").read_text())
    reports = read_collective_reports([Evidence.from_path(folder / "train.log")])
    found = localise_counters(reports)
    assert found is not None
    assert found.suspects[0].target.rank in answer["expected"]["culprit_ranks"]
