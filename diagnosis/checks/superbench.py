"""SuperBench's rules, baselines and results: taken as a suite, judged like any other."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from diagnosis.checks.output import Output
from diagnosis.checks.suite import (
    Criterion,
    Direction,
    Item,
    Phase,
    Rule,
    Suite,
    SuiteError,
)

_CRITERIA = re.compile(r"\s*lambda\s+x\s*:\s*x\s*([<>])\s*(-?[\d.]+)\s*")


def suite_from_superbench(
    rules: Mapping[str, Any], baseline: Mapping[str, float], metrics: Iterable[str]
) -> Suite:
    """One item for each metric that a rule matches: `variance` against the baseline, or `value`.

    Criteria are read, never run: `lambda x:x>0.05` and its mirror. Raises `SuiteError`.
    """
    names = sorted(metrics)
    items: dict[str, Item] = {}
    for title, rule in rules["superbench"]["rules"].items():
        patterns = [rule["metrics"]] if isinstance(rule["metrics"], str) else rule["metrics"]
        for metric in names:
            if any(re.search(pattern, metric) for pattern in patterns):
                items[f"{title} {metric}"] = _item(title, rule, metric, baseline)
    return Suite("superbench", "SuperBench's rules", 600.0, tuple(items.values()))


def _item(title: str, rule: Mapping[str, Any], metric: str, baseline: Mapping[str, float]) -> Item:
    found = _CRITERIA.fullmatch(str(rule.get("criteria")))
    if found is None:
        raise SuiteError(f"rule {title}: criteria '{rule.get('criteria')}' cannot be read")
    limit = float(found[2])
    if rule.get("function") == "variance":
        usual = baseline.get(metric, baseline.get(metric.split(":", maxsplit=1)[0]))
        if usual is None:
            raise SuiteError(f"rule {title}: no baseline for {metric}")
        limit = usual * (1 + limit)
    elif rule.get("function") != "value":
        raise SuiteError(f"rule {title}: function '{rule.get('function')}' is not known")
    return Item(
        code=f"{title} {metric}",
        title=metric,
        command=metric.split("/", maxsplit=1)[0],
        parser="readings",
        value=_reading_name(metric),
        unit="",
        direction=Direction.LOWER if found[1] == ">" else Direction.HIGHER,
        criterion=Criterion(Rule.BOUND, limit),
        time_limit_s=600.0,
        phase=Phase.SINGLE_HOST,
    )


def outputs_of(suite: Suite, row: Mapping[str, Any]) -> dict[str, list[Output]]:
    """One node's results as the outputs of the suite's items; absent metrics have none."""
    return {
        item.code: [Output(f"reading {item.value} {row[item.title]}\ndone\n")]
        for item in suite.items
        if row.get(item.title) is not None
    }


def _reading_name(metric: str) -> str:
    return re.sub(r"[^a-z0-9_.]", "_", metric.lower())
