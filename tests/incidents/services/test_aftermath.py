"""What the next attempt tells about the decisions before it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import selectors
from incidents.choices import DecisionKind, JobState, Outcome, Resolution
from incidents.models import Attempt, Decision, Incident
from incidents.services.decisions import decide
from incidents.services.incidents import resolve
from incidents.services.jobs import end_attempt
from tests.factories import (
    AttemptFactory,
    DiagnosisFactory,
    HostFactory,
    IncidentFactory,
    JobFactory,
    RankPlacementFactory,
    RecommendationFactory,
    SuspectFactory,
    actor,
)

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def decision() -> Decision:
    """An isolation, accepted ten hours ago, three hours after its attempt began."""
    began = timezone.now() - 13 * HOUR
    attempt = AttemptFactory(job=JobFactory(), number=1, started_at=began)
    incident = IncidentFactory(job=attempt.job, attempt=attempt, onset_at=began + 3 * HOUR)
    run = DiagnosisFactory(done=True, incident=incident)
    SuspectFactory(diagnosis=run, position=1)
    advice = RecommendationFactory(diagnosis=run)
    return decide(actor=actor(), recommendation=advice, kind=DecisionKind.ACCEPT)


def next_attempt(decision: Decision, *, ran: timedelta) -> Attempt:
    """The attempt after, ended."""
    job = decision.recommendation.diagnosis.incident.job
    began = timezone.now() - 9 * HOUR
    attempt: Attempt = AttemptFactory(job=job, number=2, started_at=began)
    return end_attempt(
        actor=actor(), attempt=attempt, outcome=JobState.FAILED, ended_at=began + ran
    )


def test_an_attempt_that_got_further_bears_the_decision_out(decision: Decision) -> None:
    next_attempt(decision, ran=4 * HOUR)

    decision.refresh_from_db()
    assert decision.outcome == Outcome.RECOVERED


def test_one_that_broke_earlier_proves_nothing(decision: Decision) -> None:
    next_attempt(decision, ran=HOUR)

    decision.refresh_from_db()
    assert decision.outcome == Outcome.PENDING


def test_what_repair_found_is_not_overwritten(decision: Decision) -> None:
    Decision.objects.update(outcome=Outcome.PART_GOOD)

    next_attempt(decision, ran=4 * HOUR)

    decision.refresh_from_db()
    assert decision.outcome == Outcome.PART_GOOD


def test_the_hosts_that_the_next_attempt_left_out_are_told(decision: Decision) -> None:
    incident = decision.recommendation.diagnosis.incident
    good, bad = HostFactory(name="node-002"), HostFactory(name="node-001")
    for host in (good, bad):
        RankPlacementFactory(attempt=incident.attempt, host=host)
    RankPlacementFactory(attempt=AttemptFactory(job=incident.job, number=2), host=good)

    after = selectors.aftermath_of(incident, now=timezone.now())

    assert after is not None
    assert after.left_out == [bad]


def test_without_a_further_attempt_nothing_came_after(decision: Decision) -> None:
    incident = decision.recommendation.diagnosis.incident

    assert selectors.aftermath_of(incident, now=timezone.now()) is None


def hang_on(attempt: Attempt, *, after: timedelta) -> Incident:
    began = attempt.started_at + after
    incident: Incident = IncidentFactory(
        job=attempt.job, attempt=attempt, kind="hang", onset_at=began
    )
    return incident


def test_an_attempt_that_stands_still_has_not_got_further(decision: Decision) -> None:
    broken = decision.recommendation.diagnosis.incident
    later = AttemptFactory(job=broken.job, number=2, started_at=timezone.now() - 9 * HOUR)
    stands = hang_on(later, after=timedelta(seconds=1))

    found = selectors.aftermath_of(broken, now=timezone.now())

    assert found
    assert (found.passed, found.ran, found.stopped_by) == (None, 1, stands)


def test_one_that_stood_still_until_its_end_bears_nothing_out(decision: Decision) -> None:
    broken = decision.recommendation.diagnosis.incident
    later = AttemptFactory(job=broken.job, number=2, started_at=timezone.now() - 9 * HOUR)
    hang_on(later, after=HOUR)

    end_attempt(actor=actor(), attempt=later, outcome=JobState.FAILED, ended_at=timezone.now())

    decision.refresh_from_db()
    assert decision.outcome == Outcome.PENDING


def test_a_hang_that_was_over_while_the_attempt_went_on_did_not_stop_it(decision: Decision) -> None:
    broken = decision.recommendation.diagnosis.incident
    later = AttemptFactory(job=broken.job, number=2, started_at=timezone.now() - 9 * HOUR)
    hang = hang_on(later, after=HOUR)
    resolve(actor=actor(), incident=hang, resolution=Resolution.RECOVERED)

    found = selectors.aftermath_of(broken, now=timezone.now())
    assert found
    assert found.passed
