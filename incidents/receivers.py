"""What happens when the records ask for work of their own."""

import logging
from collections.abc import Sequence

from django.dispatch import receiver
from kombu.exceptions import KombuError, OperationalError

from incidents.signals import delivery_wanted, execution_wanted, message_came
from incidents.tasks import deliver, execute, take_in

logger = logging.getLogger(__name__)


@receiver(delivery_wanted, dispatch_uid="incidents.call_a_worker_to_deliver")
def call_a_worker_to_deliver(
    sender: object, subscription_ids: Sequence[int], **kwargs: object
) -> None:
    """Sends a task for each endpoint. A broker that is down loses nothing: beat asks again."""
    try:
        for pk in subscription_ids:
            deliver.delay(pk)
    except (OperationalError, KombuError, OSError) as error:
        logger.warning(
            "Webhooks %s wait for the next sweep: no broker (%s)", subscription_ids, error
        )


@receiver(message_came, dispatch_uid="incidents.call_a_worker_to_take_in")
def call_a_worker_to_take_in(sender: object, inbox_id: int, **kwargs: object) -> None:
    """Sends the task. A broker that is down loses nothing here either."""
    try:
        take_in.delay(inbox_id)
    except (OperationalError, KombuError, OSError) as error:
        logger.warning("Inbox %s waits for the next sweep: no broker (%s)", inbox_id, error)


@receiver(execution_wanted, dispatch_uid="incidents.call_a_worker_to_execute")
def call_a_worker_to_execute(sender: object, execution_id: int, **kwargs: object) -> None:
    """Sends the task. A broker that is down delays it until the next sweep, or until it is void."""
    try:
        execute.delay(execution_id)
    except (OperationalError, KombuError, OSError) as error:
        logger.warning("Execution %s waits for the next sweep: no broker (%s)", execution_id, error)
