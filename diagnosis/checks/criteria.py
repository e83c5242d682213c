"""Whether one host's value passes an item's criterion, against bounds or against healthy peers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from diagnosis.checks.output import Value
from diagnosis.checks.suite import Criterion, Direction, Item, Rule

#: Fewer healthy values than this make no distribution.
LEAST_PEERS = 4
#: From so many hosts on, the history alone says what is healthy.
LEAST_HISTORY = 8
#: The share of hosts that must agree before the others count as different.
MAJORITY = 0.6

Reading = float | str


@dataclass(frozen=True, slots=True)
class Healthy:
    """What healthy hosts measure: `middle` and robust standard deviation `spread` over `hosts`."""

    middle: float
    spread: float
    hosts: int


@dataclass(frozen=True, slots=True)
class Judged:
    """`passed` is None where it cannot be told; `peers` and `criterion` say against what."""

    passed: bool | None
    peers: str
    criterion: str


def reading_of(item: Item, values: Sequence[Value]) -> tuple[Reading, str] | None:
    """The value by which a host is judged, and its device: the worst of its devices.

    For rules of equality it is all different values, joined. None where the output has no such
    value.
    """
    named = [value for value in values if value.name == item.value]
    if not named:
        return None
    if item.criterion.rule == Rule.SAME or item.direction == Direction.EQUAL:
        odd = [one for one in named if not _equal(str(one), item.criterion.limit)]
        device = odd[0].device if odd and item.criterion.rule == Rule.BOUND else ""
        return ", ".join(sorted({str(value) for value in named})), device
    numbers = [value for value in named if isinstance(value.value, float)]
    if len(numbers) < len(named):
        return None
    pick = min if item.direction == Direction.HIGHER else max
    worst = pick(numbers, key=lambda value: float(value.value))
    return worst.value, worst.device


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _equal(value: object, limit: object) -> bool:
    return _shown(value) == _shown(limit)


def healthy_of(
    item: Item, current: Mapping[str, Reading], history: Mapping[str, Reading]
) -> Healthy | None:
    """The healthy distribution: the history's, or this run's where the history is short.

    The middle is a median, and the spread is that of the good side alone: bad hosts lie on the
    other one, so they can neither move nor widen it while they are fewer than half.
    """
    past = [float(value) for value in history.values() if not isinstance(value, str)]
    now = [float(value) for value in current.values() if not isinstance(value, str)]
    pool = np.array(past if len(past) >= LEAST_HISTORY else past + now)
    if len(pool) < LEAST_PEERS:
        return None
    middle = float(np.median(pool))
    sign = 1.0 if item.direction == Direction.HIGHER else -1.0
    good = sign * (pool - middle)
    spread = 1.4826 * float(np.median(good[good >= 0]))
    return Healthy(middle, spread, len(pool))


def allowance(criterion: Criterion, healthy: Healthy) -> float:
    """How far from the middle a value may lie."""
    return max(criterion.floor * abs(healthy.middle), criterion.deviations * healthy.spread)


def judge(item: Item, reading: Reading, healthy: Healthy | None, usual: str | None) -> Judged:
    """One reading against its item's criterion. `usual` is what most peers have."""
    criterion = item.criterion
    if criterion.rule == Rule.BOUND:
        return Judged(_within_bound(item, reading), "", _bound_text(item))
    if criterion.rule == Rule.SAME:
        if usual is None:
            return Judged(None, "no majority among the peers", "as most peers")
        return Judged(str(reading) == usual, f"most peers: {usual}", "as most peers")
    if healthy is None or isinstance(reading, str):
        return Judged(None, f"fewer than {LEAST_PEERS} healthy values", "near the healthy fleet")
    room = allowance(criterion, healthy)
    peers = f"median {healthy.middle:g} {item.unit} of {healthy.hosts} hosts".replace("  ", " ")
    if item.direction == Direction.HIGHER:
        limit = healthy.middle - room
        return Judged(reading >= limit, peers, f"at least {limit:.4g} {item.unit}".rstrip())
    limit = healthy.middle + room
    return Judged(reading <= limit, peers, f"at most {limit:.4g} {item.unit}".rstrip())


def _within_bound(item: Item, reading: Reading) -> bool | None:
    limit = item.criterion.limit
    if item.direction == Direction.EQUAL:
        return _equal(reading, limit)
    if isinstance(reading, str) or isinstance(limit, str) or limit is None:
        return None
    return reading >= limit if item.direction == Direction.HIGHER else reading <= limit


def _bound_text(item: Item) -> str:
    words = {Direction.HIGHER: "at least", Direction.LOWER: "at most", Direction.EQUAL: "exactly"}
    limit = item.criterion.limit
    return f"{words[item.direction]} {_shown(limit)} {item.unit}".rstrip()


def usual_of(current: Mapping[str, Reading], history: Mapping[str, Reading]) -> str | None:
    """What most hosts of this run have; of the history where fewer than three hosts run."""
    values = [str(value) for value in (current if len(current) >= 3 else history).values()]
    if len(values) < 3:
        return None
    value, number = Counter(values).most_common(1)[0]
    return value if number >= MAJORITY * len(values) else None


def is_shifted(item: Item, current: Mapping[str, Reading], history: Mapping[str, Reading]) -> bool:
    """Whether the whole run is worse than the history allows: not single hosts are at fault."""
    now = [float(value) for value in current.values() if not isinstance(value, str)]
    if item.criterion.rule != Rule.FLEET or len(history) < LEAST_HISTORY or len(now) < 3:
        return False
    healthy = healthy_of(item, {}, history)
    return healthy is not None and not judge(item, float(np.median(now)), healthy, None).passed
