"""What happens when the records ask for a diagnosis."""

import logging

from django.dispatch import receiver
from kombu.exceptions import KombuError, OperationalError

from diagnosis.tasks import run_diagnosis
from incidents.signals import diagnosis_wanted

logger = logging.getLogger(__name__)


@receiver(diagnosis_wanted, dispatch_uid="diagnosis.call_a_worker")
def call_a_worker(sender: object, diagnosis_id: int, **kwargs: object) -> None:
    """Sends the task. A broker that is down loses nothing: the queued row is swept later."""
    try:
        run_diagnosis.delay(diagnosis_id)
    except (OperationalError, KombuError, OSError) as error:
        logger.warning("Diagnosis %s waits for the sweeper: no broker (%s)", diagnosis_id, error)
