"""The life of one run: requested, claimed, kept alive, failed, swept."""

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.choices import DiagnosisState, Role
from incidents.exceptions import LeaseLost, NotAllowed
from incidents.models import Diagnosis, Event
from incidents.services import diagnoses
from incidents.signals import diagnosis_wanted
from tests.factories import DiagnosisFactory, IncidentFactory, actor

pytestmark = pytest.mark.django_db


@pytest.fixture
def wanted():
    """The runs that workers were called for."""
    keys: list[int] = []

    def note(sender: object, diagnosis_id: int, **kwargs: object) -> None:
        keys.append(diagnosis_id)

    diagnosis_wanted.connect(note)
    yield keys
    diagnosis_wanted.disconnect(note)


def expired(**given) -> Diagnosis:
    past = timezone.now() - timedelta(hours=1)
    return DiagnosisFactory(running=True, lease_expires_at=past, announced_at=past, **given)


def test_a_request_queues_a_run_and_calls_a_worker_after_commit(
    wanted, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        run = diagnoses.request_diagnosis(actor=actor(), incident=IncidentFactory())
        assert wanted == []
    run.incident.refresh_from_db()
    assert (run.state, run.number, run.incident.diagnosis_state) == ("queued", 1, "queued")
    assert wanted == [run.pk]


def test_a_request_while_one_is_queued_is_that_one():
    incident = IncidentFactory()
    first, second = (
        diagnoses.request_diagnosis(actor=actor(), incident=incident) for _ in range(2)
    )
    assert first == second
    assert Event.objects.filter(incident=incident).count() == 1


def test_a_request_while_one_runs_makes_a_new_one_beside_it():
    running = DiagnosisFactory(running=True)
    new = diagnoses.request_diagnosis(actor=actor(), incident=running.incident)
    assert new.number == running.number + 1


def test_a_viewer_cannot_ask_for_a_diagnosis():
    with pytest.raises(NotAllowed):
        diagnoses.request_diagnosis(actor=actor(Role.VIEWER), incident=IncidentFactory())


def test_of_two_workers_one_gets_the_run():
    run = DiagnosisFactory()
    assert [diagnoses.claim(pk=run.pk, owner=owner) for owner in ("a", "b")] == [True, False]
    run.refresh_from_db()
    assert (run.state, run.lease_owner, run.attempts) == ("running", "a", 1)


def test_a_run_whose_worker_is_silent_for_longer_than_its_lease_can_be_taken_over():
    run = expired()
    assert diagnoses.claim(pk=run.pk, owner="b")
    run.refresh_from_db()
    assert (run.lease_owner, run.attempts) == ("b", 2)


@pytest.mark.parametrize("end", [{"done": True}, {"state": "failed", "error": "x"}])
def test_a_run_that_has_ended_is_not_taken_again(end):
    assert not diagnoses.claim(pk=DiagnosisFactory(**end).pk, owner="b")


def test_a_sign_of_life_puts_the_end_of_the_lease_off(settings):
    run = expired()
    now = timezone.now()
    diagnoses.extend_lease(pk=run.pk, owner="worker", now=now)
    run.refresh_from_db()
    assert run.lease_expires_at == now + timedelta(seconds=settings.DIAGNOSIS_LEASE_SECONDS)


def test_a_worker_that_lost_its_run_is_told():
    run = DiagnosisFactory(running=True)
    with pytest.raises(LeaseLost):
        diagnoses.extend_lease(pk=run.pk, owner="another")
    with pytest.raises(LeaseLost):
        diagnoses.fail(pk=run.pk, owner="another", error="x")


def test_a_failure_is_kept_in_words_and_stands_in_the_timeline():
    run = DiagnosisFactory(running=True)
    diagnoses.fail(pk=run.pk, owner="worker", error="The engine stopped")
    run.refresh_from_db()
    event = Event.objects.get(incident=run.incident)
    assert (run.state, run.error, run.lease_owner) == ("failed", "The engine stopped", "")
    assert "The engine stopped" in event.text


def test_the_sweeper_gives_back_what_a_dead_worker_held_and_calls_again(wanted):
    run = expired()
    assert diagnoses.requeue_expired() == [run.pk] == wanted
    run.refresh_from_db()
    assert (run.state, run.lease_owner) == (DiagnosisState.QUEUED, "")


def test_the_sweeper_leaves_runs_alone_whose_worker_lives(wanted):
    run = DiagnosisFactory(running=True)
    diagnoses.requeue_expired()
    run.refresh_from_db()
    assert (run.state, wanted) == (DiagnosisState.RUNNING, [])


def test_the_sweeper_calls_again_for_a_run_that_no_broker_took_and_not_twice_in_one_lease(wanted):
    run = DiagnosisFactory(announced_at=timezone.now() - timedelta(hours=1))
    diagnoses.requeue_expired()
    diagnoses.requeue_expired()
    assert wanted == [run.pk]


def test_the_sweeper_waits_before_it_calls_again_for_a_fresh_run(wanted):
    DiagnosisFactory()
    assert diagnoses.requeue_expired() == wanted == []


def test_a_run_that_kills_its_workers_ends_as_failed(settings, wanted):
    run = expired(attempts=settings.DIAGNOSIS_MAX_ATTEMPTS)
    diagnoses.requeue_expired()
    run.refresh_from_db()
    assert (run.state, wanted) == (DiagnosisState.FAILED, [])
    assert "times over" in run.error


def test_a_run_that_was_left_while_a_newer_one_waits_gives_way_to_that():
    old = expired()
    newer = DiagnosisFactory(incident=old.incident, number=old.number + 1)
    diagnoses.requeue_expired()
    old.refresh_from_db()
    assert old.state == DiagnosisState.FAILED
    assert f"diagnosis {newer.number} takes its place" in old.error


def test_the_state_of_an_older_run_does_not_hide_that_of_the_newest():
    old = DiagnosisFactory(running=True, number=1)
    new = DiagnosisFactory(incident=old.incident, number=2)
    diagnoses.claim(pk=new.pk, owner="b")
    diagnoses.fail(pk=old.pk, owner="worker", error="x")
    old.incident.refresh_from_db()
    assert old.incident.diagnosis_state == DiagnosisState.RUNNING


def test_a_lost_worker_and_the_second_try_stand_in_the_timeline(wanted):
    run = expired(number=3)
    diagnoses.requeue_expired()
    event = Event.objects.get(incident=run.incident)
    assert event.text == "Diagnosis 3: the worker was lost in the middle, tried again"
    run.refresh_from_db()
    assert run.lost_workers == 1


def test_a_run_taken_over_from_a_silent_worker_says_so():
    run = expired()
    assert diagnoses.claim(pk=run.pk, owner="second")
    run.refresh_from_db()
    assert run.lost_workers == 1
    assert Event.objects.get(incident=run.incident).verb == "diagnosis.retried"


def test_a_first_try_loses_nobody():
    run = DiagnosisFactory()
    diagnoses.claim(pk=run.pk, owner="first")
    run.refresh_from_db()
    assert (run.lost_workers, Event.objects.count()) == (0, 0)
