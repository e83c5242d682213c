"""Incidents of other clusters, vendors and launchers (see `clusters.yaml`), by the whole engine."""

import pytest

from diagnosis.core.diagnosis import Diagnosis
from diagnosis.core.words import Action
from diagnosis.engine import diagnose
from tests.diagnosis.readers.logs_evidence import log
from tests.diagnosis.triage.judged import written_cases

CLUSTERS = {str(case["name"]): case for case in written_cases("clusters.yaml")}


def answer_to(name: str) -> Diagnosis:
    return diagnose([log(text, file) for file, text in CLUSTERS[name]["files"].items()])


def isolated(answer: Diagnosis) -> set[str]:
    targets = (r.target for r in answer.recommendations if r.action is Action.ISOLATE_HOST)
    return {str(target.host or target.name) for target in targets}


@pytest.mark.parametrize("name", CLUSTERS)
def test_an_incident_gets_its_class_and_its_culprit(name: str) -> None:
    case, answer = CLUSTERS[name], answer_to(name)
    top = answer.suspects[0].target.to_dict() if answer.suspects else {}
    wanted = case.get("top", {})
    assert answer.verdict.cls.value in case["class"]
    assert {field: top.get(field) for field in wanted} == wanted


@pytest.mark.parametrize("name", CLUSTERS)
def test_nobody_is_isolated_wrongly(name: str) -> None:
    case, found = CLUSTERS[name], isolated(answer_to(name))
    spared = set(case.get("spare", ()))
    assert not (found if "*" in spared else found & spared)
    assert found >= set(case.get("isolate", ()))
