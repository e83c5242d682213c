"""Thin tasks: they take keys, and are safe to run twice."""

from celery import shared_task
from django.utils import timezone

from diagnosis.services import replays, watch, watch_list
from diagnosis.services.replay_run import run_slice
from diagnosis.services.run import run
from incidents.services import diagnoses


@shared_task(name="diagnosis.tasks.run_diagnosis")
def run_diagnosis(diagnosis_id: int) -> None:
    """Runs one diagnosis, unless another worker has it or it has ended."""
    run(diagnosis_id)


@shared_task(name="diagnosis.tasks.sweep_diagnoses")
def sweep_diagnoses() -> None:
    """Gives back what dead workers held, and calls again for what waits too long."""
    diagnoses.requeue_expired()
    replays.requeue_expired()


@shared_task(name="diagnosis.tasks.run_replay")
def run_replay(replay_id: int) -> None:
    """Judges incidents by changed rules for a few seconds; the replay calls for its next slice."""
    run_slice(replay_id)


@shared_task(name="diagnosis.tasks.judge_due")
def judge_due() -> None:
    """Calls a worker for every running job whose look is due."""
    now = timezone.now()
    watch_list.enrol(now=now)
    for attempt_id in watch_list.call_for_due(now=now):
        judge_job.delay(attempt_id)


@shared_task(name="diagnosis.tasks.judge_job")
def judge_job(attempt_id: int) -> None:
    """Looks at one running job, unless it is not due or another worker has it."""
    watch.judge(attempt_id)
