"""Whether a decision bears an answer out: what precision and top-k are made of."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from incidents.choices import DecisionKind, Outcome

#: 95 % of a normal distribution lie within so many deviations.
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Judged:
    """One decision about one suspect.

    `place` is the suspect's, from 1; 0 where nothing suspected was decided on. `elsewhere` is
    where among the suspects a person put the blame instead, 0 where on none of them.
    """

    kind: str
    outcome: str
    place: int
    elsewhere: int | None = None

    @property
    def right(self) -> bool:
        """Whether the suspect was the cause: repair has the last word, then the job, then people.

        An accepted one counts as right until the job does not recover or the part is found good;
        a rejected one as wrong until repair finds the part bad.
        """
        if self.outcome in {Outcome.PART_BAD, Outcome.PART_GOOD}:
            return self.outcome == Outcome.PART_BAD
        if self.kind == DecisionKind.ACCEPT:
            return self.outcome != Outcome.NOT_RECOVERED
        return self.kind == DecisionKind.CHANGE and self.elsewhere is None

    @property
    def confirmed(self) -> bool:
        """Whether more than a person's word stands behind it: repair, or the job after it."""
        return self.outcome != Outcome.PENDING


def true_place(judged: Iterable[Judged]) -> int | None:
    """At which place the cause was among the suspects: 0 for not at all, None if undecided."""
    found = list(judged)
    if not found:
        return None
    right = [one.place for one in found if one.right and one.place]
    if right:
        return min(right)
    return min((one.elsewhere for one in found if one.elsewhere), default=0)


@dataclass(frozen=True, slots=True)
class Precision:
    """`right` of `decided`; `confirmed` of them rest on more than a person's word."""

    right: int
    decided: int
    confirmed: int = 0

    @property
    def share(self) -> float | None:
        """The precision; None where nothing was decided."""
        return self.right / self.decided if self.decided else None

    @property
    def at_least(self) -> float | None:
        """The lower end of Wilson's 95 % interval: how good it is bound to be.

        Wilson, "Probable inference", JASA 22 (1927).
        """
        if not self.decided:
            return None
        n, p = self.decided, self.right / self.decided
        middle = p + _Z**2 / (2 * n)
        spread = _Z * sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        return max(0.0, (middle - spread) / (1 + _Z**2 / n))


def top(places: NDArray[np.float64], k: int) -> float | None:
    """The share of decided incidents whose cause was among the first `k` suspects."""
    return float(((places >= 1) & (places <= k)).mean()) if len(places) else None
