"""How many requests a minute a token, person or address may make, told in headers.

`RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds) are in every answer that
counts; a request too many is 429 with `Retry-After`. Without a cache nobody is held up.
"""

import logging
import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from incidents.models import ApiToken

_WINDOW = 60
logger = logging.getLogger(__name__)


class PerMinute(BaseThrottle):
    """A fixed window of a minute, counted in the cache that all web processes share."""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Counts the request; its numbers go into `request.rate_limit`."""
        if not getattr(view, "rate_limited", True):
            return True
        window, passed = divmod(time.time(), _WINDOW)
        self._left = _WINDOW - int(passed)
        limit = settings.API_REQUESTS_PER_MINUTE
        count = _counted(f"rate:{_who(request, self)}:{int(window)}")
        if count is None:
            return True
        request._request.rate_limit = {  # type: ignore[attr-defined]
            "RateLimit-Limit": str(limit),
            "RateLimit-Remaining": str(max(limit - count, 0)),
            "RateLimit-Reset": str(self._left),
        }
        return count <= limit

    def wait(self) -> float:
        """Seconds until the next window."""
        return float(self._left)


def _who(request: Request, throttle: BaseThrottle) -> str:
    if isinstance(request.auth, ApiToken):
        return f"token:{request.auth.pk}"
    if request.user.is_authenticated:
        return f"user:{request.user.pk}"
    return f"address:{throttle.get_ident(request)}"


def _counted(key: str) -> int | None:
    """How many requests the window has seen with this one; None where nobody counts."""
    try:
        cache.add(key, 0, timeout=2 * _WINDOW)
        return int(cache.incr(key))
    except (RedisError, OSError, ValueError) as error:
        logger.debug("Requests are not counted: %s", error)
        return None
