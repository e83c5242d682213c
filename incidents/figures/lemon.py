"""The repeat-offender ("lemon") score: how likely a host is one of the few that break most.

Pure. A site of 400 servers published 0.42 % faults per node-day, with the worst 5 % of its nodes
holding 24.5 % of the faults: a node of the worst twentieth fails 6.2 times as often as any other.
With Poisson faults the two rates give the odds for each host from its own count, which ages, and
in which a fault weighs by how far its incident was confirmed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

_DAY = 86400.0


class Standing(StrEnum):
    """What became of an accusation."""

    CONFIRMED = "confirmed by repair"
    RECOVERED = "the job recovered without it"
    ACCEPTED = "accepted"
    OPEN = "not decided"
    NOT_RECOVERED = "the job did not recover without it"
    REJECTED = "rejected"
    CLEARED = "cleared"


def _weights() -> Mapping[Standing, float]:
    return {
        Standing.CONFIRMED: 1.0,
        Standing.RECOVERED: 0.9,
        Standing.ACCEPTED: 0.8,
        Standing.OPEN: 0.6,
        Standing.NOT_RECOVERED: 0.3,
        Standing.REJECTED: 0.1,
        Standing.CLEARED: 0.0,
    }


@dataclass(frozen=True, slots=True)
class LemonRule:
    """The constants of the score.

    half_life_days: a fault of so long ago counts half (ours).
    faults_per_node_day, worst_share, worst_faults: the published site; the worst `worst_share` of
        the nodes hold `worst_faults` of all faults.
    weights: how much an accusation counts by what became of it (ours).
    """

    half_life_days: float = 90.0
    faults_per_node_day: float = 0.0042
    worst_share: float = 0.05
    worst_faults: float = 0.245
    weights: Mapping[Standing, float] = field(default_factory=_weights)

    @property
    def expected(self) -> float:
        """Weighted faults that an average node has collected: the rate over the decay's area."""
        return self.faults_per_node_day * self.half_life_days / math.log(2)


@dataclass(frozen=True, slots=True)
class Accusation:
    """One incident that named the host: when, how likely (0..1), and what became of it."""

    at: datetime
    probability: float
    standing: Standing = Standing.OPEN


@dataclass(frozen=True, slots=True)
class Lemon:
    """The score (0..1), the weighted faults behind it, and each accusation's share of them."""

    score: float
    faults: float
    shares: Sequence[float] = ()


def lemon_score(
    accusations: Sequence[Accusation],
    now: datetime,
    rule: LemonRule = LemonRule(),
) -> Lemon:
    """The probability that a host with these accusations is of the worst twentieth.

    An accusation that lies ahead of `now` counts for nothing.
    """
    shares = [_share(one, now, rule) for one in accusations]
    faults = sum(shares)
    worst = rule.worst_faults / rule.worst_share
    others = (1 - rule.worst_faults) / (1 - rule.worst_share)
    odds = math.log(rule.worst_share / (1 - rule.worst_share))
    odds += faults * math.log(worst / others) - (worst - others) * rule.expected
    score = 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0
    return Lemon(score=score if faults > 0 else 0.0, faults=faults, shares=tuple(shares))


def _share(one: Accusation, now: datetime, rule: LemonRule) -> float:
    age = (now - one.at).total_seconds() / _DAY
    if age < 0:
        return 0.0
    aged = 0.5 ** (age / rule.half_life_days)
    return float(min(max(one.probability, 0.0), 1.0) * rule.weights[one.standing] * aged)
