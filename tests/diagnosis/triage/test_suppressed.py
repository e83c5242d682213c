"""What people silenced is told with its reason, and not judged."""

from datetime import UTC, datetime
from functools import partial
from io import BytesIO

import pytest

from diagnosis.core.diagnosis import Diagnosis
from diagnosis.core.evidence import Evidence
from diagnosis.core.words import Action
from diagnosis.engine import diagnose
from diagnosis.simulator.scenarios import simulate
from diagnosis.taxonomy.suppression import (
    IgnoreRule,
    MaintenanceWindow,
    Suppression,
    SuppressionRules,
)
from tests.diagnosis.readers.logs_evidence import log
from tests.diagnosis.triage.judged import placed

FALLEN = (
    "2026-11-02T08:10:00+00:00 node-01 kernel: NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, "
    "name=python, GPU has fallen off the bus.\n"
)
OTHER_PID = FALLEN.replace("4711", "9999")
AT = datetime(2026, 11, 2, 8, tzinfo=UTC).timestamp()
DAY = 86400.0


def judged(text: str, *rules: IgnoreRule | MaintenanceWindow) -> Diagnosis:
    chosen = SuppressionRules(
        ignore=tuple(one for one in rules if isinstance(one, IgnoreRule)),
        maintenance=tuple(one for one in rules if isinstance(one, MaintenanceWindow)),
    )
    return diagnose(
        [log(text, "node-01.dmesg.log")],
        suppression=Suppression(chosen, at=AT),
        placement=placed(1),
    )


def ignored(**fields: str) -> IgnoreRule:
    return IgnoreRule("a known board", expires=AT + DAY, **fields)


def window(start: float = AT, *, host: str = "node-01") -> MaintenanceWindow:
    return MaintenanceWindow("lab", start, start + DAY, "new fans", hosts=(host,))


def isolates(answer: Diagnosis) -> bool:
    return any(item.action is Action.ISOLATE_HOST for item in answer.recommendations)


def test_without_rules_the_host_is_isolated() -> None:
    assert isolates(judged(FALLEN))


def suppressed_in(answer: Diagnosis) -> list[str]:
    told = answer.verdict.coverage["suppressed"]
    assert isinstance(told, list)
    return told


@pytest.mark.parametrize(
    "rule",
    [
        ignored(signature="xid-79-fallen-off-bus", host="node-01"),
        ignored(pattern="fallen off the bus", cluster="lab"),
        window(),
    ],
)
def test_a_silenced_finding_isolates_nothing_and_is_told(
    rule: IgnoreRule | MaintenanceWindow,
) -> None:
    answer = judged(FALLEN, rule)
    told = [line for line in answer.trace if line.startswith("suppressed: 1 line of xid-79")]
    assert not isolates(answer)
    assert told == [f"suppressed: {line}" for line in suppressed_in(answer)]
    assert rule.reason in told[0]


@pytest.mark.parametrize(
    "rule",
    [
        ignored(signature="xid-79-fallen-off-bus", host="node-02"),
        ignored(pattern="pid=1234", cluster="lab"),
        window(host="node-02"),
        window(AT + DAY),
    ],
)
def test_rules_about_something_else_change_nothing(rule: IgnoreRule | MaintenanceWindow) -> None:
    assert judged(FALLEN, rule).verdict.cls == judged(FALLEN).verdict.cls
    assert isolates(judged(FALLEN, rule))


def test_an_answer_that_finds_nothing_says_that_something_was_left_out() -> None:
    assert "Left out: 1 line of xid-79" in judged(FALLEN, window()).verdict.summary


def test_a_pattern_silences_only_the_lines_that_have_it() -> None:
    answer = judged(FALLEN + OTHER_PID, ignored(pattern="pid=4711", cluster="lab"))
    assert isolates(answer)
    assert any("suppressed: 1 line " in line for line in answer.trace)


def test_the_recorded_version_covers_what_is_silenced() -> None:
    assert judged(FALLEN).taxonomy_version != judged(FALLEN, window()).taxonomy_version


def test_advice_about_a_host_under_maintenance_is_held_back_and_suspects_stay() -> None:
    files = simulate("hang_compute", seed=8, hosts=2).files
    evidence = [Evidence(name, partial(BytesIO, text), len(text)) for name, text in files.items()]
    usual = diagnose(evidence)
    (item,) = [one for one in usual.recommendations if one.action is Action.ISOLATE_HOST]
    rules = SuppressionRules(maintenance=(window(host=str(item.target.host)),))
    held = diagnose(evidence, suppression=Suppression(rules, at=AT))
    assert not isolates(held)
    assert held.suspects == usual.suspects
    assert "Held back" in held.verdict.summary
    assert held.trace[-1].startswith(f"suppressed: isolate-host of {item.target.host}: under")
