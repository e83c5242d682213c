"""Thin tasks: they take keys, and are safe to run twice."""

from celery import shared_task
from django.utils import timezone

from diagnosis.services import check_runs, demo, offline, replays, watch, watch_list
from diagnosis.services.replay_run import run_slice
from diagnosis.services.run import run
from incidents.services import diagnoses
from incidents.services.offenders import rescore_all


@shared_task(name="diagnosis.tasks.run_diagnosis")
def run_diagnosis(diagnosis_id: int) -> None:
    """Runs one diagnosis, unless another worker has it or it has ended."""
    run(diagnosis_id)


@shared_task(name="diagnosis.tasks.sweep_diagnoses")
def sweep_diagnoses() -> None:
    """Gives back what dead workers held, and calls again for what waits too long."""
    diagnoses.requeue_expired()
    replays.requeue_expired()


@shared_task(name="diagnosis.tasks.rescore_hosts")
def rescore_hosts() -> None:
    """Lets the repeat-offender scores of hosts age, and follow how incidents ended."""
    rescore_all()


@shared_task(name="diagnosis.tasks.run_replay")
def run_replay(replay_id: int) -> None:
    """Judges incidents by changed rules for a few seconds; the replay calls for its next slice."""
    run_slice(replay_id)


@shared_task(name="diagnosis.tasks.go_on_with_check")
def go_on_with_check(run_id: int) -> None:
    """Takes a check to its next phase or to its verdict, where its results allow."""
    check_runs.go_on(run_id)


@shared_task(name="diagnosis.tasks.sweep_checks")
def sweep_checks() -> None:
    """Gives back what lost runners held, and takes on what waits although its message was lost."""
    for run_id in check_runs.due():
        check_runs.go_on(run_id)
    for offline_id in offline.due():
        offline.go_on(offline_id)


@shared_task(name="diagnosis.tasks.go_on_with_offline")
def go_on_with_offline(offline_id: int) -> None:
    """Takes an offline diagnosis to its next round once runners have run this one."""
    offline.go_on(offline_id)


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


@shared_task(name="diagnosis.tasks.load_demo")
def load_demo() -> None:
    """Tells the demo's stories, unless someone did before."""
    if not demo.is_told():
        for _ in demo.fill(now=timezone.now()):
            pass
