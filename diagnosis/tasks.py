"""Thin tasks: they take keys, and are safe to run twice."""

from celery import shared_task

from diagnosis.services import replays
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
