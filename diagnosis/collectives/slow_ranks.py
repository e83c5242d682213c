"""Ranks that are slow in their collectives, by what sources of counters time (Aegis, NSDI '25).

TD is the time that a rank spends inside a collective, N the time that it takes for a byte. Who has
a far shorter TD than its peers arrives last: its computing is slow. Who has a far longer N with a
TD as its peers' communicates slowly. Back-pressure spreads waiting over a whole replica, so a rank
is named by its TD only where it is alone with it, and a communicator of all ranks, which mixes
stages, is compared only where there is no other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from diagnosis.collectives.settings import CollectiveSettings
from diagnosis.collectives.sheets import Joined
from diagnosis.core.collectives import Bools, Floats
from diagnosis.core.counters import Timing

#: Members that a communicator needs before the odd one out can be told.
_PEERS = 3
#: Ranks that communicate slowly together: the two ends of a link.
_ENDS = 2
_POINT_TO_POINT = {"send", "recv", "sendrecv", "isend", "irecv"}


class SlowPart(StrEnum):
    """What of a rank is slow."""

    COMPUTING = "computing"
    COMMUNICATING = "communicating"


@dataclass(frozen=True, slots=True)
class SlowRank:
    """A rank beside its peers in one communicator (its index), over the last `of` collectives.

    `ratio` is its TD (computing) or its N (communicating) over the mean of all members; `times` in
    how many of the collectives it was beyond the bound, `last` the newest of them.
    """

    rank: int
    communicator: int
    part: SlowPart
    ratio: float
    times: int
    of: int
    last: Timing


@dataclass(frozen=True)
class _Timed:
    """The last collectives that all members of a communicator were timed in.

    `inside` and `per_byte` (NaN where it is not told) are µs, shape (members, collectives).
    """

    communicator: int
    ranks: Sequence[int]
    inside: Floats
    per_byte: Floats
    last: Sequence[Timing]


def slow_ranks(found: Joined, settings: CollectiveSettings) -> tuple[SlowRank, ...]:
    """Who is slow, the furthest from its peers first; empty where nobody is or nothing is timed."""
    compared = list(_timed(found, settings))
    inner = [timed for timed in compared if len(timed.ranks) < len(found.world)]
    slow: dict[int, SlowRank] = {}
    for timed in inner or compared:
        for one in _late(timed, settings) or _congested(timed, settings):
            known = slow.setdefault(one.rank, one)
            slow[one.rank] = max(known, one, key=_distance)
    return tuple(sorted(slow.values(), key=lambda one: (-_distance(one), one.rank)))


def _distance(one: SlowRank) -> float:
    return max(one.ratio, 1 / max(one.ratio, 1e-9))


def _timed(found: Joined, settings: CollectiveSettings) -> Iterator[_Timed]:
    members: dict[int, dict[int, Mapping[tuple[str, int], Timing]]] = {}
    for (index, rank), timings in found.timings.items():
        members.setdefault(index, {})[rank] = {
            (one.operation, one.number): one
            for one in timings
            if one.operation.lower() not in _POINT_TO_POINT
        }
    for index, by_rank in members.items():
        first, *others = by_rank.values()
        common = [call for call in first if all(call in other for other in others)]
        common = common[-settings.last_timed :]
        if len(by_rank) < _PEERS or len(common) < settings.late_times:
            continue
        rows = [[calls[call] for call in common] for calls in by_rank.values()]
        yield _Timed(
            communicator=index,
            ranks=list(by_rank),
            inside=np.array([[one.inside_us for one in row] for row in rows]),
            per_byte=np.array([[1 / (one.bytes_per_us or np.nan) for one in row] for row in rows]),
            last=[row[-1] for row in rows],
        )


def _late(timed: _Timed, settings: CollectiveSettings) -> list[SlowRank]:
    """The one rank whose time inside is below α of the mean, and of the next lowest."""
    spent = timed.inside.mean(axis=1)
    lowest, second = np.argsort(spent, kind="stable")[:2].tolist()
    mean = float(spent.mean())
    if spent[lowest] >= settings.duration_share * min(mean, float(spent[second])):
        return []
    beyond = timed.inside[lowest] < settings.duration_share * timed.inside.mean(axis=0)
    ratio = float(spent[lowest]) / mean
    return _lasting(timed, lowest, SlowPart.COMPUTING, ratio, beyond, settings)


def _congested(timed: _Timed, settings: CollectiveSettings) -> list[SlowRank]:
    """The ranks, one or the two ends of a link, that take β of the mean time for a byte."""
    if not np.isfinite(timed.per_byte).all():
        return []
    taken = timed.per_byte.mean(axis=1)
    found: list[SlowRank] = []
    for row in np.flatnonzero(taken > settings.slow_factor * taken.mean()).tolist():
        beyond = timed.per_byte[row] > settings.slow_factor * timed.per_byte.mean(axis=0)
        ratio = float(taken[row] / taken.mean())
        found += _lasting(timed, row, SlowPart.COMMUNICATING, ratio, beyond, settings)
    return found if len(found) <= _ENDS else []


def _lasting(
    timed: _Timed,
    row: int,
    part: SlowPart,
    ratio: float,
    beyond: Bools,
    settings: CollectiveSettings,
) -> list[SlowRank]:
    times, of = int(np.count_nonzero(beyond)), len(beyond)
    if times < settings.lasting_share * of:
        return []
    return [SlowRank(timed.ranks[row], timed.communicator, part, ratio, times, of, timed.last[row])]
