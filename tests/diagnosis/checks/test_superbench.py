"""SuperBench's recorded results: the same hosts as its own rules name."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from diagnosis.checks.suite import SuiteError
from diagnosis.checks.superbench import outputs_of, suite_from_superbench
from diagnosis.checks.verdict import Decision, Judge

RULES = {
    "superbench": {
        "rules": {
            "slow": {
                "function": "variance",
                "criteria": "lambda x:x>0.05",
                "metrics": [r"launch/time:\d+"],
            }
        }
    }
}


def held(rules: dict[str, Any], baseline: dict[str, float], rows: list[dict[str, Any]]) -> set[str]:
    suite = suite_from_superbench(rules, baseline, {name for row in rows for name in row})
    verdict = Judge(suite, mass_hosts=len(rows) + 1)(
        {row["node"]: outputs_of(suite, row) for row in rows}
    )
    return {one.host for one in verdict.hosts if one.decision == Decision.HOLD}


def test_the_recorded_results_hold_the_hosts_that_superbench_names(cases: Path) -> None:
    folder = cases / "metrics" / "superbench_results"
    rules = yaml.safe_load((folder / "test_rules.yaml").read_text())
    baseline = json.loads((folder / "test_baseline.json").read_text())
    lines = (folder / "test_results.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    assert held(rules, baseline, rows) == {"sb-validation-01", "sb-validation-03"}


def test_variance_is_against_the_baseline_of_the_metric_without_its_rank() -> None:
    rows = [{"node": "a", "launch/time:0": 1.04}, {"node": "b", "launch/time:0": 1.06}]
    assert held(RULES, {"launch/time": 1.0}, rows) == {"b"}


def test_criteria_are_read_and_never_run() -> None:
    rule = {"function": "value", "criteria": "__import__('os')", "metrics": ["a"]}
    with pytest.raises(SuiteError, match="cannot be read"):
        suite_from_superbench({"superbench": {"rules": {"r": rule}}}, {}, ["a"])
