"""What the database refuses by itself, whoever writes."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from incidents.models import Event
from tests import factories as make

pytestmark = pytest.mark.django_db


def again(factory, *fields: str):
    """A second row with the same values in `fields`."""
    first = factory()
    factory(**{field: getattr(first, field) for field in fields})


REFUSED = {
    "a role that nobody knows": lambda: make.UserFactory._meta.model.objects.filter(
        pk=make.UserFactory().pk
    ).update(role="king"),
    "a host twice in one cluster": lambda: again(make.HostFactory, "cluster", "name"),
    "a job twice at one scheduler": lambda: again(
        make.JobFactory, "cluster", "source", "external_id"
    ),
    "a job without id": lambda: make.JobFactory(external_id=""),
    "an attempt number twice": lambda: again(make.AttemptFactory, "job", "number"),
    "attempt zero": lambda: make.AttemptFactory(number=0),
    "an attempt that ends before it starts": lambda: make.AttemptFactory(
        ended_at=timezone.now() - timedelta(days=1)
    ),
    "a rank in two places": lambda: again(make.RankPlacementFactory, "attempt", "rank"),
    "an unknown status": lambda: make.IncidentFactory(status="open"),
    "an unknown kind": lambda: make.IncidentFactory(kind="boom"),
    "a resolved incident without resolution": lambda: make.IncidentFactory(
        status="resolved", resolved_at=timezone.now()
    ),
    "an open incident with resolution": lambda: make.IncidentFactory(resolution="other"),
    "two open incidents with one key": lambda: [
        make.IncidentFactory(dedup_key="k") for _ in range(2)
    ],
    "a score above one": lambda: make.SuspectFactory(score=1.1),
    "a score below zero": lambda: make.SuspectFactory(score=-0.1),
    "a confidence above one": lambda: make.DiagnosisFactory(done=True, confidence=2),
    "a blob twice": lambda: again(make.BlobFactory, "sha256"),
    "a hash that is none": lambda: make.BlobFactory(sha256="x" * 64),
    "one file twice in an incident": lambda: again(
        make.EvidenceFactory, "incident", "blob", "name"
    ),
    "evidence skipped without reason": lambda: make.EvidenceFactory(parse_status="skipped"),
    "a run number twice": lambda: again(make.DiagnosisFactory, "incident", "number"),
    "two queued runs of one incident": lambda: again(make.DiagnosisFactory, "incident"),
    "a run without lease that is running": lambda: make.DiagnosisFactory(state="running"),
    "a run that is done without verdict": lambda: make.DiagnosisFactory(state="done"),
    "a run that failed without error": lambda: make.DiagnosisFactory(state="failed"),
    "a target of unknown kind": lambda: make.FindingFactory(target_kind="moon"),
    "an unknown action": lambda: make.RecommendationFactory(action="explode"),
    "an event of unknown source": lambda: Event.objects.create(
        verb="x", text="x", actor="x", source="dream"
    ),
}


@pytest.mark.parametrize("write", REFUSED.values(), ids=REFUSED.keys())
def test_the_database_refuses(write):
    with pytest.raises(IntegrityError), transaction.atomic():
        write()


def test_an_incident_is_not_merged_into_itself():
    incident = make.IncidentFactory()
    incident.merged_into = incident
    with pytest.raises(IntegrityError), transaction.atomic():
        incident.save()


DECISIONS = {
    "a rejection without reason": {"kind": "reject"},
    "a change to nothing": {"kind": "change", "reason": "x"},
    "an acceptance that changes": {"kind": "accept", "changed_action": "watch"},
}


@pytest.mark.parametrize("given", DECISIONS.values(), ids=DECISIONS.keys())
def test_the_database_refuses_decisions_that_make_no_sense(given: dict[str, str]):
    recommendation = make.RecommendationFactory()
    with pytest.raises(IntegrityError), transaction.atomic():
        recommendation.decisions.create(actor="x", **given)


def test_one_decision_stands():
    recommendation = make.RecommendationFactory()
    recommendation.decisions.create(actor="x", kind="accept")
    with pytest.raises(IntegrityError), transaction.atomic():
        recommendation.decisions.create(actor="x", kind="accept")
