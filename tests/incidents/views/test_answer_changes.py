"""What changed from one diagnosis to the next."""

import pytest
from django.test import Client

from incidents.views.answer_changes import changes_of
from tests.factories import (
    DiagnosisFactory,
    EvidenceFactory,
    IncidentFactory,
    RecommendationFactory,
    SuspectFactory,
)

pytestmark = pytest.mark.django_db


def run(incident, number: int, *, blames: str = "node-001", score: float = 0.9, **given):
    made = DiagnosisFactory(incident=incident, number=number, done=True, **given)
    SuspectFactory(diagnosis=made, position=1, target_host=blames, score=score)
    return made


def told(answer, before) -> list[str]:
    return [f"{one.sign} {one.text}" for one in changes_of(answer, before)]


def test_another_answer_says_who_came_and_who_went():
    incident = IncidentFactory()
    before = run(incident, 1, summary="node-001 broke")
    answer = run(incident, 2, blames="node-002", summary="node-002 broke", confidence=0.6)
    RecommendationFactory(diagnosis=answer)
    assert told(answer, before) == [
        "- node-001 broke",
        "+ node-002 broke",
        "~ Confidence: 90 % → 60 %",
        "+ Suspect: node-002 (90 %)",
        "- No longer a suspect: node-001 (90 %)",
        "+ Recommended: Isolate host: node-001",
    ]


def test_a_suspect_that_is_more_or_less_likely_moved():
    incident = IncidentFactory()
    before, answer = run(incident, 1, score=0.4), run(incident, 2, score=0.9)
    assert told(answer, before) == ["~ node-001: 40 % → 90 %"]


def test_more_evidence_and_other_rules_are_told():
    incident = IncidentFactory()
    before = run(incident, 1, taxonomy_version="a")
    answer = run(incident, 2, taxonomy_version="b")
    answer.evidence.add(EvidenceFactory(incident=incident, name="late.log"))
    assert told(answer, before) == [
        "+ More evidence: late.log",
        "~ Other rules: the fault taxonomy was changed in between",
    ]


def test_the_same_answer_says_so():
    incident = IncidentFactory()
    assert "Nothing" in told(run(incident, 2), run(incident, 1))[0]


def test_the_page_compares_with_the_run_before(responder: Client):
    incident = IncidentFactory()
    run(incident, 1, summary="first thought")
    run(incident, 2, summary="second thought")
    page = responder.get(f"/incidents/{incident.pk}").content.decode()
    assert "What changed against" in page
    assert "first thought" in page
    first = responder.get(f"/incidents/{incident.pk}?diagnosis=1").content.decode()
    assert "What changed against" not in first
