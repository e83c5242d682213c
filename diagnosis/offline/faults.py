"""Possible faults and how well the answers speak for each, given the faults already assumed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diagnosis.offline.history import Failure, History
from diagnosis.offline.layout import Bools, Floats, Ints

#: A host that only helps out as a partner is this much less likely to be faulty (log odds).
PARTNER_PENALTY = 4.0


@dataclass(frozen=True, slots=True)
class Fault:
    """`kind` is `host` (number `one`), `pair` (`one`, `other`) or `network` (number `one`)."""

    kind: str
    one: int
    other: int = -1

    def spoils(self, failure: Failure) -> bool:
        if self.kind == "network":
            return bool((failure.network == self.one).any())
        inside = bool((failure.members == self.one).any())
        return inside and (self.kind == "host" or bool((failure.members == self.other).any()))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs of hosts: their numbers, log odds without failures, and the failures that
    hold both ends (K, F).
    """

    one: Ints
    other: Ints
    base: Floats
    hit: Bools


@dataclass(frozen=True, eq=False)
class Weights:
    """Log odds of each fault, against its absence; all arrays are over the faults of one kind."""

    hosts: Floats
    network: Floats
    pairs: Pairs
    pair_odds: Floats

    def best(self) -> tuple[Fault, float]:
        """The likeliest fault and its log odds."""
        found = [(Fault("host", int(self.hosts.argmax())), float(self.hosts.max()))]
        if len(self.network):
            found.append((Fault("network", int(self.network.argmax())), float(self.network.max())))
        if len(self.pair_odds):
            at = int(self.pair_odds.argmax())
            pair = Fault("pair", int(self.pairs.one[at]), int(self.pairs.other[at]))
            found.append((pair, float(self.pair_odds[at])))
        return max(found, key=lambda item: item[1])


@dataclass(frozen=True, eq=False)
class Scale:
    """The odds of all possible faults under one history. F failures, n hosts, E network faults.

    Tests are noisy: a test passes k independent faults that it touches with probability miss^k. So
    passed tests add log(miss) a fault, and a failed one speaks for a fault the more, the fewer
    others are assumed in it.
    """

    history: History

    @property
    def failures(self) -> tuple[Failure, ...]:
        return self.history.failures

    @cached_property
    def log_miss(self) -> float:
        return float(np.log(self.history.network.settings.miss))

    @cached_property
    def host_base(self) -> Floats:
        settings, suspect = self.history.network.settings, self.history.layout.suspect
        prior = np.log(settings.host_share / max(int(suspect.sum()), 1))
        prior = np.where(suspect, prior, prior - PARTNER_PENALTY)
        found: Floats = prior + self.log_miss * self.history.host_passes
        return found

    @cached_property
    def network_base(self) -> Floats:
        found: Floats = self.history.network.priors + self.log_miss * self.history.network_passes
        return found

    def speaks(self, assumed: Ints) -> Floats:
        """What each failure (F,) says for one more fault in it, where `assumed` are in it."""
        settings = self.history.network.settings
        quiet = 1 - settings.false_alarm
        fails = 1 - quiet * settings.miss**assumed
        more = 1 - quiet * settings.miss ** (assumed + 1)
        found: Floats = np.log(more / fails)
        return found

    def weigh(self, assumed: Ints) -> Weights:
        """The log odds of every fault when each failure holds `assumed` (F,) known faults."""
        says = self.speaks(assumed)
        hosts, network = self.host_base.copy(), self.network_base.copy()
        for failure, amount in zip(self.failures, says, strict=True):
            hosts[failure.members] += amount
            network[failure.network] += amount
        pairs = self.pairs(self._narrowest(assumed))
        return Weights(hosts, network, pairs, pairs.base + pairs.hit @ says)

    def _narrowest(self, assumed: Ints) -> int:
        """The smallest large failure that nothing explains yet, -1 for none."""
        sizes = [
            (len(failure.members), number)
            for number, failure in enumerate(self.failures)
            if not failure.is_small and not assumed[number]
        ]
        return min(sizes)[1] if sizes else -1

    @cached_property
    def _pair_lists(self) -> dict[int, Pairs]:
        return {}

    def pairs(self, narrowest: int) -> Pairs:
        """Pairs within the small failures, and within the large failure `narrowest`."""
        if narrowest not in self._pair_lists:
            self._pair_lists[narrowest] = self._listed(narrowest)
        return self._pair_lists[narrowest]

    def _listed(self, narrowest: int) -> Pairs:
        hosts = len(self.history.layout)
        small = [_within(one.members) for one in self.failures if one.is_small]
        parts = [np.zeros(0, np.int64), *(one * hosts + other for one, other in small)]
        keys = np.unique(np.concatenate(parts))
        more, surplus = self._in_large(narrowest)
        fresh = np.setdiff1d(more, keys)
        one, other = np.divmod(np.concatenate([keys, fresh]), hosts)
        base = np.full(len(one), self._pair_prior)
        base[len(keys) :] += np.log(surplus)
        base += self.log_miss * self.history.pair_passes(one, other)
        return Pairs(one, other, base, self._held(one, other))

    @property
    def _pair_prior(self) -> float:
        hosts = len(self.history.layout)
        share = self.history.network.settings.pair_share
        return float(np.log(share / max(hosts * (hosts - 1) / 2, 1)))

    def _in_large(self, narrowest: int) -> tuple[Ints, float]:
        """Keys of the pairs in a large failure; where too many, a sample, and how many each stands
        for.
        """
        hosts, limit = len(self.history.layout), self.history.network.settings.pairs_weighed
        if narrowest < 0:
            return np.zeros(0, np.int64), 1.0
        members = self.failures[narrowest].members
        total = len(members) * (len(members) - 1) // 2
        if total <= limit:
            one, other = _within(members)
            return one * hosts + other, 1.0
        rng = np.random.default_rng(len(self.history.rounds))
        picked = np.sort(rng.choice(members, size=(limit, 2)), axis=1)
        keys = np.unique(picked[picked[:, 0] < picked[:, 1]] @ np.array([hosts, 1]))
        return keys, total / len(keys)

    def _held(self, one: Ints, other: Ints) -> Bools:
        held = np.zeros((len(one), len(self.failures)), dtype=bool)
        inside = np.zeros(len(self.history.layout), dtype=bool)
        for number, failure in enumerate(self.failures):
            inside[:] = False
            inside[failure.members] = True
            held[:, number] = inside[one] & inside[other]
        return held


def _within(members: Ints) -> tuple[Ints, Ints]:
    ordered = np.sort(members)
    first, second = np.triu_indices(len(ordered), 1)
    return ordered[first], ordered[second]
