"""Runs of the diagnosis, with an engine that the test plays."""

import io
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from diagnosis.core.diagnosis import Diagnosis as Answer
from diagnosis.core.diagnosis import Skipped, Suspect, Verdict
from diagnosis.core.target import Target
from diagnosis.core.words import IncidentKind, Role, TargetKind, VerdictClass
from diagnosis.models import ProgressPicture
from diagnosis.readers.sorted_evidence import CUT_OFF
from diagnosis.services.heartbeat import kept_alive
from diagnosis.services.run import run
from incidents.choices import DiagnosisState
from incidents.models import Diagnosis, Event
from incidents.services import diagnoses
from incidents.services.evidence import attach_evidence
from tests.factories import DiagnosisFactory, RankPlacementFactory, actor

pytestmark = pytest.mark.django_db


def answer(**given) -> Answer:
    culprit = Target(TargetKind.HOST, name="node-1", host="node-1")
    settled = {
        "verdict": Verdict(IncidentKind.HANG, VerdictClass.CRITICAL, "node-1 stopped", 0.9),
        "suspects": (Suspect(culprit, 0.9, Role.CULPRIT, None),),
        "recommendations": (),
        "trace": (),
        "skipped": (),
        "taxonomy_version": "abc",
    }
    return Answer(**{**settled, **given})


def engine_that(gives: Answer, seen: list[Any] | None = None):
    def engine(evidence, *, placement=None, taxonomy=None, **known):
        if seen is not None:
            seen.extend([sorted(one.name for one in evidence), placement, taxonomy])
        return gives

    return engine


def with_file(queued: Diagnosis, content: bytes = b"line\n", name: str = "rank-0.log"):
    return attach_evidence(
        actor=actor(), incident=queued.incident, name=name, stream=io.BytesIO(content)
    )[0]


def test_a_run_hands_all_evidence_placement_and_rules_to_the_engine():
    place = RankPlacementFactory()
    queued = DiagnosisFactory(incident__attempt=place.attempt)
    with_file(queued)
    seen: list[Any] = []
    run(queued.pk, engine=engine_that(answer(), seen))
    names, placement, rules = seen
    assert (names, len(placement)) == (["rank-0.log"], 1)
    assert len(rules) > 100


def test_a_run_ends_done_with_its_suspects_and_notes_what_could_be_read():
    queued = DiagnosisFactory()
    read, spoilt = with_file(queued), with_file(queued, b"\x80", "dump_1")
    assert run(queued.pk, engine=engine_that(answer(skipped=(Skipped("dump_1", "cut off"),))))
    queued.refresh_from_db()
    assert (queued.state, queued.suspects.get().target_host) == (DiagnosisState.DONE, "node-1")
    for one in (read, spoilt):
        one.refresh_from_db()
    assert (read.parse_status, read.kind) == ("parsed", "log")
    assert (spoilt.parse_status, spoilt.parse_reason) == ("skipped", "cut off")


def test_the_picture_is_kept_with_the_run():
    queued = DiagnosisFactory()
    pictures = {"collective_progress": {"ranks": [0, 1]}}
    run(queued.pk, engine=engine_that(answer(pictures=pictures)))
    assert ProgressPicture.objects.get(pk=queued.pk).data == {"ranks": [0, 1]}


def test_an_engine_that_breaks_ends_the_run_in_words():
    def broken(evidence, *, placement=None, taxonomy=None, **known):
        raise ZeroDivisionError("spread of zero")

    queued = DiagnosisFactory()
    run(queued.pk, engine=broken)
    queued.refresh_from_db()
    assert queued.state == DiagnosisState.FAILED
    assert queued.error == "The engine stopped with an error: ZeroDivisionError: spread of zero"


def test_a_second_start_while_the_first_works_does_nothing():
    held = DiagnosisFactory(running=True)
    assert not run(held.pk, engine=engine_that(answer()))
    held.refresh_from_db()
    assert held.lease_owner == "worker"


def test_a_run_done_twice_ends_in_one_result():
    queued = DiagnosisFactory()
    done = [run(queued.pk, engine=engine_that(answer())) for _ in range(2)]
    assert done == [True, False]
    assert queued.suspects.count() == 1
    assert Event.objects.filter(incident=queued.incident).count() == 1


def test_the_answer_of_a_worker_that_was_taken_over_is_dropped():
    queued = DiagnosisFactory()

    def slow(evidence, *, placement=None, taxonomy=None, **known):
        past = timezone.now() - timedelta(hours=1)
        Diagnosis.objects.filter(pk=queued.pk).update(lease_expires_at=past)
        run(queued.pk, engine=engine_that(answer(taxonomy_version="second")))
        return answer(taxonomy_version="first")

    assert not run(queued.pk, engine=slow)
    queued.refresh_from_db()
    assert (queued.state, queued.taxonomy_version) == (DiagnosisState.DONE, "second")


def test_the_error_of_a_worker_that_was_taken_over_is_dropped_too():
    queued = DiagnosisFactory()

    def breaks_late(evidence, *, placement=None, taxonomy=None, **known):
        Diagnosis.objects.filter(pk=queued.pk).update(lease_owner="another")
        raise ZeroDivisionError

    assert not run(queued.pk, engine=breaks_late)
    queued.refresh_from_db()
    assert (queued.state, queued.error) == (DiagnosisState.RUNNING, "")


def test_after_a_killed_worker_the_sweeper_and_a_new_worker_finish_the_run_once():
    queued = DiagnosisFactory(announced_at=timezone.now() - timedelta(hours=1))
    assert diagnoses.claim(pk=queued.pk, owner="killed")
    later = timezone.now() + timedelta(hours=1)
    assert diagnoses.requeue_expired(now=later) == [queued.pk]
    assert run(queued.pk, engine=engine_that(answer()))
    queued.refresh_from_db()
    assert (queued.state, queued.attempts) == (DiagnosisState.DONE, 2)


@pytest.mark.django_db(transaction=True)
def test_the_lease_is_extended_while_the_engine_works():
    held = DiagnosisFactory(running=True, lease_expires_at=timezone.now())
    first = held.lease_expires_at
    with kept_alive(pk=held.pk, owner="worker", every=0.02):
        deadline = time.monotonic() + 90
        while held.lease_expires_at == first and time.monotonic() < deadline:
            time.sleep(0.02)
            held.refresh_from_db()
    assert held.lease_expires_at > first


@pytest.mark.django_db(transaction=True)
def test_a_file_that_was_cut_off_counts_as_read_and_says_so():
    queued = DiagnosisFactory()
    record = with_file(queued, name="rank-0.log.gz")
    run(queued.pk, engine=engine_that(answer(skipped=(Skipped("rank-0.log.gz", CUT_OFF),))))
    record.refresh_from_db()
    assert (record.parse_status, record.parse_reason) == ("parsed", CUT_OFF)


def test_the_thread_ends_with_the_run():
    held = DiagnosisFactory(running=True)
    with kept_alive(pk=held.pk, owner="worker", every=60):
        assert any(one.name == f"lease-{held.pk}" for one in threading.enumerate())
    assert not any(one.name == f"lease-{held.pk}" for one in threading.enumerate())
    assert connection.is_usable()
