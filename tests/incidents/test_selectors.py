"""What lists show, in which order, and in how many queries."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from incidents import selectors
from incidents.models import Diagnosis, Incident
from incidents.services.events import record
from tests.factories import (
    AttemptFactory,
    DiagnosisFactory,
    EvidenceFactory,
    FindingFactory,
    HostFactory,
    IncidentFactory,
    JobFactory,
    RankPlacementFactory,
    RecommendationFactory,
    SuspectFactory,
    UserFactory,
    actor,
)

pytestmark = pytest.mark.django_db


def resolved(**given) -> Incident:
    return IncidentFactory(
        status="resolved", resolution="other", resolved_at=timezone.now(), **given
    )


def full_incident() -> Incident:
    attempt = AttemptFactory()
    return IncidentFactory(job=attempt.job, attempt=attempt, assignee=UserFactory())


def test_the_desk_shows_open_incidents_worst_first_then_the_longest_open():
    now = timezone.now()
    low = IncidentFactory(severity="low", opened_at=now - timedelta(days=3))
    late = IncidentFactory(severity="critical", opened_at=now)
    early = IncidentFactory(severity="critical", opened_at=now - timedelta(hours=1))
    resolved(severity="critical")
    assert list(selectors.desk()) == [early, late, low]


@pytest.mark.parametrize("incidents", [1, 20])
def test_the_desk_takes_one_query_however_many_incidents(incidents: int, django_assert_num_queries):
    for _ in range(incidents):
        full_incident()
    with django_assert_num_queries(1):
        shown = [
            (
                str(one.cluster),
                str(one.job),
                one.attempt and one.attempt.number,
                str(one.assignee),
                one.reference,
            )
            for one in selectors.desk()
        ]
    assert len(shown) == incidents


def finished_run(suspects: int) -> Diagnosis:
    run = DiagnosisFactory(done=True)
    for position in range(suspects):
        suspect = SuspectFactory(diagnosis=run, position=position + 1)
        evidence = EvidenceFactory(incident=run.incident)
        suspect.findings.add(FindingFactory(diagnosis=run, position=position, evidence=evidence))
        recommendation = RecommendationFactory(diagnosis=run, position=position + 1)
        recommendation.decisions.create(kind="accept", actor="x")
    return run


@pytest.mark.parametrize("suspects", [1, 10])
def test_a_diagnosis_in_full_takes_the_same_queries_however_long_it_is(
    suspects: int, django_assert_num_queries
):
    run = finished_run(suspects)
    with django_assert_num_queries(7):
        found = selectors.latest_finished(run.incident)
        assert found is not None
        shown = [
            (finding.text, finding.evidence and finding.evidence.blob.sha256)
            for suspect in found.suspects.all()
            for finding in suspect.findings.all()
        ]
        decided = [list(one.decisions.all()) for one in found.recommendations.all()]
    assert (len(shown), len(decided)) == (suspects, suspects)


def test_the_newest_finished_run_answers_even_while_another_is_queued():
    run = finished_run(1)
    DiagnosisFactory(incident=run.incident, number=run.number + 1)
    assert selectors.latest_finished(run.incident) == run


def test_an_incident_without_finished_run_has_no_answer():
    assert selectors.latest_finished(DiagnosisFactory().incident) is None


def test_a_joined_incident_has_its_open_incidents_found():
    attempt = AttemptFactory()
    open_one = IncidentFactory(attempt=attempt)
    resolved(attempt=attempt)
    assert list(selectors.open_incidents_of(attempt)) == [open_one]


def test_jobs_and_hosts_count_open_incidents_only():
    job, host = JobFactory(), HostFactory()
    for incident in (IncidentFactory(job=job), resolved(job=job)):
        incident.hosts.add(host)
    AttemptFactory(job=job)
    counted_job: Any = selectors.jobs().get()
    counted_host: Any = selectors.hosts().get()
    assert (counted_job.open_incident_count, counted_job.attempt_count) == (1, 1)
    assert counted_host.open_incident_count == 1
    assert selectors.incidents_of_host(host).count() == 2


def test_a_job_without_incidents_counts_none():
    JobFactory()
    counted: Any = selectors.jobs().get()
    assert counted.open_incident_count == 0


def test_the_feed_gives_what_came_after_the_cursor_in_order():
    first, second, third = (record(actor=actor(), verb="x", text=str(n)) for n in range(3))
    assert list(selectors.events_since(first.pk)) == [second, third]


def test_a_placement_comes_by_rank_with_its_hosts_in_one_query(django_assert_num_queries):
    attempt = AttemptFactory()
    for rank in (2, 0, 1):
        RankPlacementFactory(attempt=attempt, rank=rank)
    with django_assert_num_queries(1):
        found = [(place.rank, place.host.name) for place in selectors.placement_of(attempt)]
    assert [rank for rank, _ in found] == [0, 1, 2]


def test_a_resolved_incident_waits_for_nobody():
    RecommendationFactory(diagnosis__incident=resolved())
    assert not selectors.with_answer(selectors.incidents()).get().undecided
