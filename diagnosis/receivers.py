"""What happens when the records ask for a diagnosis, and the workbench for a replay."""

import logging

from django.dispatch import receiver
from kombu.exceptions import KombuError, OperationalError

from diagnosis.services.check_runs import run_may_go_on
from diagnosis.services.offline import round_may_be_over
from diagnosis.services.replays import replay_wanted
from diagnosis.tasks import go_on_with_check, go_on_with_offline, run_diagnosis, run_replay
from incidents.signals import diagnosis_wanted

logger = logging.getLogger(__name__)


@receiver(diagnosis_wanted, dispatch_uid="diagnosis.call_a_worker")
def call_a_worker(sender: object, diagnosis_id: int, **kwargs: object) -> None:
    """Sends the task. A broker that is down loses nothing: the queued row is swept later."""
    try:
        run_diagnosis.delay(diagnosis_id)
    except (OperationalError, KombuError, OSError) as error:
        logger.warning("Diagnosis %s waits for the sweeper: no broker (%s)", diagnosis_id, error)


@receiver(replay_wanted, dispatch_uid="diagnosis.call_a_worker_to_replay")
def call_a_worker_to_replay(sender: object, replay_id: int, **kwargs: object) -> None:
    """Sends the task of one slice. A broker that is down loses nothing here either."""
    try:
        run_replay.delay(replay_id)
    except (OperationalError, KombuError, OSError) as error:
        logger.warning("Replay %s waits for the sweeper: no broker (%s)", replay_id, error)


@receiver(run_may_go_on, dispatch_uid="diagnosis.call_a_worker_to_check")
def call_a_worker_to_check(sender: object, run_id: int, **kwargs: object) -> None:
    """Sends the task of one check; a sweep takes it on where no broker does."""
    try:
        go_on_with_check.delay(run_id)
    except (OperationalError, KombuError, OSError) as error:
        logger.warning("Check %s waits for the sweeper: no broker (%s)", run_id, error)


@receiver(round_may_be_over, dispatch_uid="diagnosis.call_a_worker_to_plan")
def call_a_worker_to_plan(sender: object, offline_id: int, **kwargs: object) -> None:
    """Sends the task of one offline diagnosis; a sweep takes it on where no broker does."""
    try:
        go_on_with_offline.delay(offline_id)
    except (OperationalError, KombuError, OSError) as error:
        logger.warning("Offline diagnosis %s waits: no broker (%s)", offline_id, error)
