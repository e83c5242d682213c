"""Which round to run next, or that there is nothing left to ask."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diagnosis.offline.belief import Belief, Question, believe
from diagnosis.offline.designs import Cleared, covering, large_designs, small_designs
from diagnosis.offline.faults import Fault
from diagnosis.offline.history import Answered, History, Purpose, Round
from diagnosis.offline.layout import Bools, Ints, Layout
from diagnosis.offline.network import Network
from diagnosis.offline.separation import bits
from diagnosis.offline.settings import OfflineSettings

#: A round that separates less than this is not worth running.
LEAST_BITS = 0.02

#: From this share of failed groups on, under at least three ToRs, the test itself is in question.
MASS = 0.5


@dataclass(frozen=True, eq=False)
class Planner:
    """The plan after some answered rounds; a pure function of them, so it survives restarts.

    First every host is tested in a pair under its ToR. What fails is taken apart in rounds that
    separate the possible explanations best. What is left then runs as one job across everything:
    a split by pod cannot see a fault between pods.
    """

    history: History

    @classmethod
    def of(
        cls,
        layout: Layout,
        rounds: Iterable[Answered] = (),
        settings: OfflineSettings | None = None,
    ) -> "Planner":
        return cls(History(Network(layout, settings or OfflineSettings()), tuple(rounds)))

    def answered(self, asked: Round, results: Sequence[bool | None]) -> "Planner":
        """The planner with one more round. Raises `BadAnswer`."""
        more = (*self.history.rounds, Answered.of(asked, results))
        return Planner(History(self.history.network, more))

    @cached_property
    def belief(self) -> Belief:
        return believe(self.history)

    @cached_property
    def open_questions(self) -> tuple[Question, ...]:
        network = self.history.network
        asked = [*(question for _, question in self.belief.assumed), *self.belief.unexplained]
        return tuple(one for one in asked if one.certainty(network) < network.settings.sure)

    @cached_property
    def settled(self) -> tuple[Fault, ...]:
        """The faults that are sure."""
        return tuple(
            fault for fault, question in self.belief.assumed if question not in self.open_questions
        )

    @cached_property
    def usable(self) -> Bools:
        """The hosts that later rounds may use: all but those of a settled fault (n,)."""
        usable = np.ones(len(self.history.layout), dtype=bool)
        for fault in self.settled:
            usable[self._hosts_of(fault)] = False
        return usable

    def _hosts_of(self, fault: Fault) -> Ints | list[int]:
        if fault.kind == "network":
            return self.history.network.hosts_of(fault.one)
        return [fault.one]

    @cached_property
    def is_mass_failure(self) -> bool:
        """Most groups under single ToRs failed in the first round, all over: no part does that."""
        if not self.history.rounds:
            return False
        first, layout = self.history.rounds[0], self.history.layout
        told = [
            (int(layout.block[group[0]]), result)
            for group, result in zip(first.round.groups, first.results, strict=True)
            if result is not None and len(set(layout.block[group].tolist())) == 1
        ]
        failed = [block for block, result in told if not result]
        return len(set(failed)) >= 3 and len(failed) >= max(4, MASS * len(told))

    def next_round(self) -> Round | None:
        """The next round to run; None when the answer will not get better."""
        if len(self.history.rounds) >= self.history.network.settings.max_rounds:
            return None
        if self.is_mass_failure:
            return None
        steps: tuple[Callable[[], Round | None], ...] = (
            self._first_cover,
            self._separate,
            self._cover_the_silent,
            self._across_everything,
        )
        found = (step() for step in steps)
        return next((one for one in found if one is not None and one.groups), None)

    @property
    def _random(self) -> np.random.Generator:
        seed = self.history.network.settings.seed
        return np.random.default_rng([seed, len(self.history.rounds)])

    def _first_cover(self) -> Round | None:
        if self.history.rounds:
            return None
        suspects = np.flatnonzero(self.history.layout.suspect)
        return self._covering(suspects) if len(suspects) > 2 else self._covering_all()

    def _covering_all(self) -> Round:
        return self._covering(np.arange(len(self.history.layout)))

    def _covering(self, hosts: Ints) -> Round:
        layout = self.history.layout
        groups = covering(layout, hosts, self._random)
        if not groups:
            groups = [np.array([host]) for host in hosts]
        return Round(tuple(groups), Purpose.COVER)

    def _separate(self) -> Round | None:
        """The best of many candidate rounds, on single hosts before the network's questions."""
        asked = self.open_questions
        small = [one for one in asked if one.is_small]
        for questions, designs in ((small, small_designs), (asked, large_designs)):
            if not questions:
                continue
            best, groups = 0.0, []
            for candidate in designs(self.history, questions, self.usable, self._random):
                worth = bits(self.history, candidate, questions) if candidate else 0.0
                if worth > best * 1.001:
                    best, groups = worth, candidate
            if best > LEAST_BITS:
                return Round(tuple(groups), Purpose.SEPARATE)
        return None

    def _cover_the_silent(self) -> Round | None:
        """Hosts without any answer are asked again, a few times, with partners that did answer."""
        history = self.history
        answered = history.host_passes + history.host_failures
        silent = self.usable & (answered == 0)
        again = silent & (history.host_silences < history.network.settings.max_repeats)
        if not again.any():
            return None
        asked = np.flatnonzero(again).tolist()
        partners = Cleared.of(history, self.usable, asked)
        return Round(tuple(partners.pair_up(asked, self._random)), Purpose.COVER)

    def _across_everything(self) -> Round | None:
        """All that is left as one job; where nothing was found, everything once more."""
        silent = self.history.host_passes + self.history.host_failures == 0
        rest = np.flatnonzero(self.usable & ~silent)
        if len(rest) < 3 or self._explained(rest):
            return None
        tried = [
            result
            for one in self.history.rounds
            for group, result in zip(one.round.groups, one.results, strict=True)
            if one.round.purpose == Purpose.AGGREGATION and len(group) >= len(rest)
        ]
        passed = sum(result is True for result in tried)
        if passed > bool(not self.belief.assumed) or len(tried) - passed >= 3:
            return None
        covers = sum(one.round.purpose == Purpose.COVER for one in self.history.rounds)
        if passed and covers < 2:
            return self._covering(rest)
        return Round((rest,), Purpose.AGGREGATION)

    def _explained(self, group: Ints) -> bool:
        """Whether a settled network fault would spoil the group anyway."""
        group_of = np.full(len(self.history.layout), -1, dtype=np.int64)
        group_of[group] = 0
        _, faults = self.history.network.hits(group_of, 1)
        return any(fault.kind == "network" and fault.one in faults for fault in self.settled)
