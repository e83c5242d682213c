"""Calling a worker when the records ask for a diagnosis."""

import time

import pytest
from django.conf import settings as django_settings

from aegis_web.celery import app
from diagnosis.receivers import call_a_worker
from diagnosis.tasks import (
    judge_due,
    judge_job,
    load_demo,
    run_diagnosis,
    run_replay,
    sweep_diagnoses,
)
from incidents.choices import DiagnosisState
from incidents.models import Diagnosis
from incidents.services import diagnoses
from tests.factories import IncidentFactory, actor


@pytest.mark.django_db
def test_a_broker_that_is_down_fails_no_request_and_loses_no_run(
    django_capture_on_commit_callbacks, caplog
):
    with django_capture_on_commit_callbacks(execute=True):
        run = diagnoses.request_diagnosis(actor=actor(), incident=IncidentFactory())
    assert Diagnosis.objects.get(pk=run.pk).state == DiagnosisState.QUEUED
    assert "waits for the sweeper" in caplog.text


def test_a_broker_that_is_down_is_given_up_at_once():
    call_a_worker(sender=None, diagnosis_id=1)  # what is loaded at the first call takes time too
    took = []
    for _ in range(3):
        began = time.monotonic()
        call_a_worker(sender=None, diagnosis_id=1)
        took.append(time.monotonic() - began)
    assert min(took) < 3  # with the broker library's own patience it is six


def test_another_error_is_not_swallowed(monkeypatch):
    def broken(pk: int) -> None:
        raise TypeError("a bug")

    monkeypatch.setattr(run_diagnosis, "delay", broken)
    with pytest.raises(TypeError):
        call_a_worker(sender=None, diagnosis_id=1)


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        (run_diagnosis, "diagnosis"),
        (run_replay, "diagnosis"),
        (load_demo, "diagnosis"),
        (sweep_diagnoses, "diagnosis"),
        (judge_due, "watch"),
        (judge_job, "watch"),
    ],
)
def test_each_task_has_its_queue(task, queue: str):
    assert app.amqp.router.route({}, task.name)["queue"].name == queue


def test_the_beat_schedule_names_the_sweeper_and_the_watch():
    scheduled = {entry["task"] for entry in django_settings.CELERY_BEAT_SCHEDULE.values()}
    assert {sweep_diagnoses.name, judge_due.name} <= scheduled
