"""What an answer's confidence is the probability of."""

import pytest

from incidents.choices import SuspectRole, VerdictClass
from incidents.models import Diagnosis
from incidents.views.certainty import certain_of
from tests.factories import DiagnosisFactory, SuspectFactory

pytestmark = pytest.mark.django_db


def answer(verdict_class: VerdictClass, *roles: SuspectRole) -> Diagnosis:
    run = DiagnosisFactory(done=True, verdict_class=verdict_class)
    run.suspects.all().delete()
    for position, role in enumerate(roles, 1):
        name = f"node-{position}"
        SuspectFactory(
            diagnosis=run, position=position, role=role, target_kind="host", target_host=name
        )
    return run


def test_where_it_stopped_is_not_called_the_cause():
    run = answer(VerdictClass.DISTRIBUTED, SuspectRole.CULPRIT)
    assert certain_of(run) == "node-1 is where it stopped; why is not in this evidence"


def test_further_culprits_are_counted_and_possible_ones_are_not():
    run = answer(
        VerdictClass.CRITICAL, SuspectRole.CULPRIT, SuspectRole.CULPRIT, SuspectRole.POSSIBLE
    )
    assert certain_of(run) == "node-1 (and 1 more) is the cause"


def test_victims_are_not_named():
    run = answer(VerdictClass.UNKNOWN, SuspectRole.VICTIM)
    assert certain_of(run) == "the cause is not in this evidence"


@pytest.mark.parametrize("verdict_class", VerdictClass.values)
def test_every_class_has_words(verdict_class: str):
    assert certain_of(answer(VerdictClass(verdict_class), SuspectRole.CULPRIT))
