"""Correcting an incident, and what later words may still change."""

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.choices import IncidentKind, Role, Severity
from incidents.exceptions import InvalidInput, NotAllowed, StaleVersion
from incidents.models import Event, Incident
from incidents.services import diagnoses, incidents
from incidents.services.correcting import Correction
from incidents.services.opening import UNTITLED
from incidents.services.results import DiagnosisResult
from tests.factories import (
    AttemptFactory,
    DiagnosisFactory,
    IncidentFactory,
    JobFactory,
    RankPlacementFactory,
    actor,
)

pytestmark = pytest.mark.django_db


def corrected(incident: Incident, **given) -> Incident:
    return incidents.correct(actor=actor(), incident=incident, correction=Correction(**given))


def judged(incident: Incident, *, kind: str = "crash", summary: str = "node-001 broke") -> Incident:
    run = DiagnosisFactory(running=True, incident=incident)
    result = DiagnosisResult(
        kind=kind,
        verdict_class="critical",
        summary=summary,
        confidence=0.9,
        engine_version="1",
        taxonomy_version="1",
    )
    diagnoses.store_result(pk=run.pk, owner="worker", result=result)
    incident.refresh_from_db()
    return incident


def test_a_correction_is_one_version_and_one_event_that_tells_before_and_after():
    found = corrected(IncidentFactory(title="slow"), title=" It hangs ", severity=Severity.HIGH)
    event = Event.objects.get()
    assert (found.title, found.severity, found.version) == ("It hangs", "high", 2)
    assert event.text == "Corrected title: slow → It hangs; severity: medium → high"


def test_a_correction_that_changes_nothing_leaves_no_trace():
    found = corrected(IncidentFactory(title="slow"), title="slow")
    assert (found.version, Event.objects.count()) == (1, 0)


def test_an_attempt_brings_job_cluster_and_gpus_along():
    attempt = AttemptFactory()
    RankPlacementFactory(attempt=attempt)
    found = corrected(IncidentFactory(), attempt=attempt)
    assert (found.attempt, found.job, found.cluster) == (attempt, attempt.job, attempt.job.cluster)
    assert found.gpu_count == 1


def test_another_job_takes_the_attempt_of_the_first_away():
    attempt = AttemptFactory()
    incident = IncidentFactory(
        job=attempt.job, attempt=attempt, gpu_count=8, gpus_freed_at=timezone.now()
    )
    found = corrected(incident, job=JobFactory())
    assert (found.attempt, found.gpu_count, found.gpus_freed_at) == (None, 0, None)


def test_the_clock_of_an_ended_attempt_is_stopped():
    ended = timezone.now()
    attempt = AttemptFactory(started_at=ended - timedelta(hours=1), ended_at=ended)
    assert corrected(IncidentFactory(), attempt=attempt).gpus_freed_at == ended


@pytest.mark.parametrize(
    "given", [{"title": "  "}, {"job": "other", "attempt": "one"}], ids=["title", "attempt"]
)
def test_what_makes_no_sense_is_refused(given: dict[str, str]):
    made = {"other": JobFactory, "one": AttemptFactory}
    with pytest.raises(InvalidInput):
        corrected(IncidentFactory(), **{k: made[v]() if v in made else v for k, v in given.items()})


def test_a_stale_correction_is_refused():
    with pytest.raises(StaleVersion):
        incidents.correct(
            actor=actor(),
            incident=IncidentFactory(),
            correction=Correction(title="x"),
            expected_version=7,
        )


def test_correcting_takes_a_responder():
    with pytest.raises(NotAllowed):
        incidents.correct(
            actor=actor(Role.VIEWER), incident=IncidentFactory(), correction=Correction(title="x")
        )


def test_a_kind_that_a_person_chose_outlives_the_next_diagnosis():
    incident = corrected(IncidentFactory(kind="crash"), kind=IncidentKind.HANG)
    assert judged(incident).kind == "hang"


def test_a_kind_that_nobody_corrected_becomes_graver():
    incident = corrected(IncidentFactory(kind="hang"), title="other")
    assert judged(incident).kind == "crash"


def test_an_untitled_incident_takes_the_answers_sentence():
    assert judged(IncidentFactory(title=UNTITLED)).title == "node-001 broke"


def test_an_untitled_incident_of_a_job_takes_the_jobs_name():
    job = JobFactory(name="llama")
    assert judged(IncidentFactory(title=UNTITLED, job=job)).title == "llama"


def test_a_long_sentence_is_shortened_to_a_title():
    assert len(judged(IncidentFactory(title=UNTITLED), summary="word " * 200).title) <= 300


def test_a_title_that_someone_gave_stays():
    assert judged(IncidentFactory(title="It hangs")).title == "It hangs"
