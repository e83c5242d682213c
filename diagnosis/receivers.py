"""What happens when the records ask for a diagnosis, and the workbench for a replay."""

import logging

from django.dispatch import receiver
from kombu.exceptions import KombuError, OperationalError

from diagnosis.services.replays import replay_wanted
from diagnosis.tasks import run_diagnosis, run_replay
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
