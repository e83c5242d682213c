"""The sign of life of a run, given by a thread while the engine works."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import DatabaseError, connection

from incidents.exceptions import LeaseLost
from incidents.services import diagnoses

logger = logging.getLogger(__name__)

#: Signs of life in the time of one lease.
_BEATS = 3


@contextmanager
def kept_alive(
    *,
    pk: int,
    owner: str,
    every: float | None = None,
    extend: Callable[..., None] = diagnoses.extend_lease,
) -> Iterator[None]:
    """Extends the run's lease every `every` seconds (a third of the lease) until the block ends.

    `extend` takes `pk` and `owner`, and raises `LeaseLost` where the run is no longer theirs.
    """
    pause = settings.DIAGNOSIS_LEASE_SECONDS / _BEATS if every is None else every
    stop = threading.Event()
    thread = threading.Thread(
        target=_beat, args=(pk, owner, pause, stop, extend), name=f"lease-{pk}", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(
    pk: int, owner: str, pause: float, stop: threading.Event, extend: Callable[..., None]
) -> None:
    try:
        while not stop.wait(pause):
            try:
                extend(pk=pk, owner=owner)
            except DatabaseError as error:
                logger.warning("Run %s: a sign of life failed (%s)", pk, error)
                connection.close()
    except LeaseLost:
        logger.info("Run %s was taken from %s", pk, owner)
    finally:
        connection.close()
