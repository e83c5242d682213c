"""When a message is tried again, and when it is given up."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

#: Seconds until the next try after the first, second, … failure in a row; the last one repeats.
DELAYS = (5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800)
#: A message that could not be delivered for so long is history, not news.
GIVE_UP_AFTER = timedelta(days=3)
#: No endpoint puts Aegis off for longer than this.
LONGEST_WAIT = timedelta(days=1)
#: Answers that are about this one message: it is given up after `TRIES_OF_REFUSED`, so that it
#: does not hold back what comes after it.
REFUSALS = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    }
)
#: The same of ticket systems: the ticket, or what it would be moved to, is not there.
REFUSALS_OF_TICKETS = REFUSALS | {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.GONE}
#: A ticket system's search may know a new ticket only after a while: one whose opening went
#: unanswered is not looked for earlier.
UNTIL_FOUND = timedelta(seconds=60)
TRIES_OF_REFUSED = 5
_JITTER = 0.2


def next_try(
    *,
    failures: int,
    now: datetime,
    retry_after: str = "",
    uniform: Callable[[float, float], float] = random.uniform,
) -> datetime:
    """When to try again after `failures` (from 1) in a row; never before what `Retry-After` says.

    The jitter of a fifth keeps endpoints that failed together from being asked together.
    """
    delay = DELAYS[min(failures, len(DELAYS)) - 1] * uniform(1 - _JITTER, 1 + _JITTER)
    asked = _asked(retry_after, now)
    return max(now + timedelta(seconds=delay), min(asked, now + LONGEST_WAIT))


def _asked(retry_after: str, now: datetime) -> datetime:
    """The instant that a `Retry-After` header names (RFC 9110): seconds or a date; else now."""
    text = retry_after.strip()
    if text.isascii() and text.isdecimal():
        return now + timedelta(seconds=min(int(text[:9]), int(LONGEST_WAIT.total_seconds())))
    try:
        named = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return now
    return named if named.tzinfo else named.replace(tzinfo=UTC)
