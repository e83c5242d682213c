"""Asking again: exponential back-off with jitter, inside a budget of seconds."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from diagnosis.sources.errors import SourceError, SourceFailure

T = TypeVar("T")


@dataclass(slots=True)
class Budget:
    """The seconds that one piece of work may still take, shared by all its questions."""

    seconds: float
    clock: Callable[[], float] = time.monotonic
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = self.clock() + self.seconds

    def left(self) -> float:
        return max(0.0, self._end - self.clock())

    def require(self) -> float:
        """The seconds left. Raises a passing `SourceError` when there are none."""
        left = self.left()
        if left <= 0.0:
            raise SourceError(
                f"not asked: the {self.seconds:g} s for this source are spent",
                failure=SourceFailure.OUT_OF_TIME,
                permanent=False,
            )
        return left


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how soon a passing failure is asked again. Waits are in seconds."""

    attempts: int = 3
    first_wait: float = 0.5
    factor: float = 2.0
    longest_wait: float = 8.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    def call(self, ask: Callable[[], T], budget: Budget) -> T:
        """`ask()`, again after a passing error while attempts and budget last.

        Raises the last error. A wait that would outlast the budget is not begun.
        """
        for attempt in range(1, self.attempts + 1):
            budget.require()
            try:
                return ask()
            except SourceError as error:
                wait = self._wait(attempt, error)
                if error.permanent or attempt == self.attempts or wait >= budget.left():
                    raise
            self.sleep(wait)
        raise AssertionError("a retry policy needs at least one attempt")

    def _wait(self, attempt: int, error: SourceError) -> float:
        """Back-off with half of it random, or the server's own wish where that is longer."""
        backoff = min(self.longest_wait, self.first_wait * self.factor ** (attempt - 1))
        return max(backoff * (0.5 + 0.5 * self.jitter()), error.retry_after or 0.0)
