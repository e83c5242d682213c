"""The rounds that were run and what their groups answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from diagnosis.offline.layout import Bools, Ints, Layout
from diagnosis.offline.network import Network


class Purpose(StrEnum):
    """Why a round is run."""

    COVER = "cover"
    SEPARATE = "separate"
    AGGREGATION = "aggregation"


class BadAnswer(ValueError):  # noqa: N818 - it names what is wrong with the input
    """Results that do not fit the round; the message says what was expected."""


@dataclass(frozen=True, eq=False)
class Round:
    """Disjoint groups of host numbers that run side by side."""

    groups: tuple[Ints, ...]
    purpose: Purpose

    def names(self, layout: Layout) -> list[list[str]]:
        return [[layout.names[host] for host in group.tolist()] for group in self.groups]


@dataclass(frozen=True, eq=False)
class Answered:
    """A round with one result a group: passed, failed, or no answer."""

    round: Round
    results: tuple[bool | None, ...]

    @classmethod
    def of(cls, asked: Round, results: object) -> "Answered":
        """Raises `BadAnswer` where `results` is no list of true, false or null for each group."""
        expected = len(asked.groups)
        if not isinstance(results, Sequence) or isinstance(results, str | bytes):
            raise BadAnswer("'results' must be a list of true, false or null, one a group")
        if len(results) != expected:
            raise BadAnswer(f"the round has {expected} groups, 'results' has {len(results)}")
        for number, result in enumerate(results):
            if result is not None and not isinstance(result, bool):
                raise BadAnswer(f"results[{number}] must be true, false or null")
        return cls(asked, tuple(results))


@dataclass(frozen=True, eq=False)
class Failure:
    """A test that failed: its members, and the network faults that would have spoilt it."""

    members: Ints
    network: Ints

    @property
    def is_small(self) -> bool:
        """So small that each of its hosts and pairs can be weighed by itself."""
        return len(self.members) <= 8


@dataclass(frozen=True, eq=False)
class History:
    """All answered rounds on one layout."""

    network: Network
    rounds: tuple[Answered, ...]

    @property
    def layout(self) -> Layout:
        return self.network.layout

    @cached_property
    def group_of(self) -> list[Ints]:
        """For each round the group of every host (n,), -1 for none."""
        return [group_numbers(one.round.groups, len(self.layout)) for one in self.rounds]

    @cached_property
    def passed(self) -> list[Bools]:
        return [np.array([result is True for result in one.results]) for one in self.rounds]

    @cached_property
    def host_passes(self) -> Ints:
        """How many tests with this host passed (n,)."""
        return self._counted(wanted=True)

    @cached_property
    def host_failures(self) -> Ints:
        return self._counted(wanted=False)

    @cached_property
    def host_silences(self) -> Ints:
        return self._counted(wanted=None)

    def _counted(self, *, wanted: bool | None) -> Ints:
        counts = np.zeros(len(self.layout), dtype=np.int64)
        for answered in self.rounds:
            for group, result in zip(answered.round.groups, answered.results, strict=True):
                counts[group] += result is wanted
        return counts

    @cached_property
    def _network_hits(self) -> list[tuple[Ints, Ints]]:
        return [
            self.network.hits(group_of, len(one.results))
            for group_of, one in zip(self.group_of, self.rounds, strict=True)
        ]

    @cached_property
    def network_passes(self) -> Ints:
        """How many passed tests each network fault would have spoilt (E,)."""
        counts = np.zeros(len(self.network), dtype=np.int64)
        for (groups, faults), passed in zip(self._network_hits, self.passed, strict=True):
            counts += np.bincount(faults[passed[groups]], minlength=len(self.network))
        return counts

    @cached_property
    def failures(self) -> tuple[Failure, ...]:
        return tuple(
            Failure(one.round.groups[number], faults[groups == number])
            for one, (groups, faults) in zip(self.rounds, self._network_hits, strict=True)
            for number, result in enumerate(one.results)
            if result is False
        )

    def pair_passes(self, one: Ints, other: Ints) -> Ints:
        """How many tests with both hosts passed, for arrays of hosts."""
        counts = np.zeros(len(one), dtype=np.int64)
        for group_of, passed in zip(self.group_of, self.passed, strict=True):
            if passed.any():
                good = np.where(passed, np.arange(len(passed)), -2)
                first = np.append(good, -2)[group_of[one]]
                counts += first == group_of[other]
        return counts


def group_numbers(groups: Sequence[Ints], hosts: int) -> Ints:
    """Each host's group (n,), -1 for none."""
    numbers = np.full(hosts, -1, dtype=np.int64)
    for number, group in enumerate(groups):
        numbers[group] = number
    return numbers
