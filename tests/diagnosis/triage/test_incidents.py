"""Incidents of our own making and healthy chatter (see the YAML files beside this)."""

import pytest

from diagnosis.core.words import Role, VerdictClass
from tests.diagnosis.triage.judged import isolated, judged, written_cases

INCIDENTS = {str(case["name"]): case for case in written_cases("incidents.yaml")}
HEALTHY = {str(case["name"]): case for case in written_cases("healthy.yaml")}


@pytest.mark.parametrize("name", INCIDENTS)
def test_an_incident_is_judged_right(name: str) -> None:
    case = INCIDENTS[name]
    conclusion = judged(case["files"])
    top = conclusion.suspects[0].target.to_dict() if conclusion.suspects else {}
    wanted = case.get("top", {})
    assert conclusion.verdict.cls.value in case["class"]
    assert {name: top.get(name) for name in wanted} == wanted
    assert isolated(conclusion) == case.get("isolate", [])


@pytest.mark.parametrize("name", INCIDENTS)
def test_the_answer_does_not_depend_on_the_order_of_the_files(name: str) -> None:
    files = INCIDENTS[name]["files"]
    assert judged(files) == judged(dict(reversed(files.items())))


@pytest.mark.parametrize("name", INCIDENTS)
def test_a_verdict_explains_itself(name: str) -> None:
    conclusion = judged(INCIDENTS[name]["files"])
    assert conclusion.verdict.summary.endswith(".")
    assert len(conclusion.trace) >= 2
    assert conclusion.recommendations


@pytest.mark.parametrize("name", INCIDENTS)
def test_scores_are_probabilities_and_culprits_stand_first(name: str) -> None:
    suspects = judged(INCIDENTS[name]["files"]).suspects
    assert all(0 < one.score <= 1 for one in suspects)
    assert all((one.role is Role.CULPRIT) == (one.score >= 0.8) for one in suspects[:1])


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_chatter_accuses_nobody(name: str) -> None:
    conclusion = judged(HEALTHY[name]["files"])
    assert (conclusion.verdict.cls, conclusion.suspects) == (VerdictClass.UNKNOWN, ())
