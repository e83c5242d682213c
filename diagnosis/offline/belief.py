"""What the answers so far convict, and which questions are still open.

Faults are assumed one after another, the likeliest first, each as far as the ones before it leave
something to explain; then every assumed fault is weighed against whatever else could stand in its
place. A fault whose place is not sure is a question, and so is a failure that nothing explains.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from diagnosis.offline.faults import Fault, Scale, Weights
from diagnosis.offline.history import Failure, History
from diagnosis.offline.layout import Floats, Ints
from diagnosis.offline.network import Network

Place = tuple[object, ...]

#: Combinations of hosts are weighed one by one up to this many; beyond it as one sum.
COMBINATIONS = 1000
LISTED = 64

#: Explanations of less probability than this do not count when rounds are compared.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Hypothesis:
    """One answer to a question: the faults in it (none: a false alarm) and its probability."""

    faults: tuple[Fault, ...]
    probability: float


@dataclass(frozen=True, eq=False)
class Likely:
    """The explanations worth weighing: `one` and `other` (L,) are a host twice, or a pair, with
    `mass` (L,); `network` (M,) are numbers of network faults with `network_mass`; `combined_mass`.
    """

    one: Ints
    other: Ints
    mass: Floats
    network: Ints
    network_mass: Floats
    combined_mass: Floats


@dataclass(frozen=True, eq=False)
class Question:
    """Failures that want one explanation, with the probabilities of all that could be one.

    `hosts` (n,), `network` (E,) and `pairs` (K,) are probabilities of single faults; `combined` of
    several hosts together; `scattered` of combinations too many to list; `nothing` of chance.
    """

    failures: tuple[Failure, ...]
    weights: Weights
    hosts: Floats
    network: Floats
    pairs: Floats
    combined: tuple[Hypothesis, ...]
    scattered: float
    nothing: float

    @property
    def is_small(self) -> bool:
        return any(failure.is_small for failure in self.failures)

    @cached_property
    def likely(self) -> Likely:
        """All explanations but those of less than one in a million."""
        hosts, pairs, network = (
            np.flatnonzero(masses > NEGLIGIBLE) for masses in (self.hosts, self.pairs, self.network)
        )
        ends = self.weights.pairs
        return Likely(
            np.concatenate([hosts, ends.one[pairs]]),
            np.concatenate([hosts, ends.other[pairs]]),
            np.concatenate([self.hosts[hosts], self.pairs[pairs]]),
            network,
            self.network[network],
            np.array([one.probability for one in self.combined]),
        )

    @cached_property
    def top(self) -> tuple[Fault, ...]:
        """The faults of the likeliest explanation; none where that is chance."""
        found: tuple[Fault, ...] = ()
        best = self.nothing
        if len(self.hosts) and self.hosts.max() > best:
            found, best = (Fault("host", int(self.hosts.argmax())),), float(self.hosts.max())
        if len(self.network) and self.network.max() > best:
            at = int(self.network.argmax())
            found, best = (Fault("network", at),), float(self.network[at])
        if len(self.pairs) and self.pairs.max() > best:
            at = int(self.pairs.argmax())
            one, other = self.weights.pairs.one[at], self.weights.pairs.other[at]
            found, best = (Fault("pair", int(one), int(other)),), float(self.pairs[at])
        if self.combined and self.combined[0].probability > best:
            found = self.combined[0].faults
        return found

    def by_place(self, network: Network) -> dict[Place, float]:
        """Probabilities by the part that a person would look at, those above 1/1,000."""
        found: dict[Place, float] = {}
        for number in np.flatnonzero(self.network > 1e-4).tolist():
            place = place_of(Fault("network", number), network)
            found[place] = found.get(place, 0.0) + float(self.network[number])
        for host in np.flatnonzero(self.hosts > 1e-3).tolist():
            found["host", host] = float(self.hosts[host])
        for at in np.flatnonzero(self.pairs > 1e-3).tolist():
            one, other = int(self.weights.pairs.one[at]), int(self.weights.pairs.other[at])
            found["pair", one, other] = float(self.pairs[at])
        for hypothesis in self.combined:
            for fault in hypothesis.faults:
                place = place_of(fault, network)
                found[place] = found.get(place, 0.0) + hypothesis.probability
        return found

    def certainty(self, network: Network) -> float:
        """The probability of the top explanation's places, or of chance where that is the top."""
        places = self.by_place(network)
        odds = (places.get(place_of(fault, network), 0.0) for fault in self.top)
        return min(odds, default=self.nothing)


@dataclass(frozen=True, eq=False)
class Belief:
    """The assumed faults, each with its question, and the failures that nothing explains."""

    assumed: tuple[tuple[Fault, Question], ...]
    unexplained: tuple[Question, ...]


def place_of(fault: Fault, network: Network) -> Place:
    """The part behind a fault: all ways in which one switch, pod or layer fails are one part."""
    if fault.kind != "network":
        return (fault.kind, fault.one) if fault.kind == "host" else ("pair", fault.one, fault.other)
    family, number = network.place_of(fault.one)
    if family in {"tor", "uplink", "inside"}:
        return ("tor", number)
    if family in {"pod", "pod-uplink"}:
        return ("pod", number)
    return ("pod-pair", number) if family == "pod-pair" else ("layer",)


def believe(history: History) -> Belief:
    """Explain the failures of a history."""
    scale = Scale(history)
    assumed: list[Fault] = _greedy(scale)
    for _ in range(3):
        questions = [_in_place_of(scale, assumed, number) for number in range(len(assumed))]
        better = [
            other
            for fault, question in zip(assumed, questions, strict=True)
            for other in (question.top or (fault,))
        ]
        if better == assumed:
            break
        assumed = list(dict.fromkeys(better))
    questions = [_in_place_of(scale, assumed, number) for number in range(len(assumed))]
    counts = _counts(scale, assumed)
    left = np.flatnonzero(counts == 0)[:64]
    unexplained = [_question(scale, scale.weigh(counts), [number]) for number in left.tolist()]
    return Belief(tuple(zip(assumed, questions, strict=True)), tuple(unexplained))


def _greedy(scale: Scale) -> list[Fault]:
    assumed: list[Fault] = []
    counts = _counts(scale, assumed)
    while (counts == 0).any() and len(assumed) < scale.history.network.settings.max_faults:
        fault, odds = scale.weigh(counts).best()
        if odds <= 0 or fault in assumed:
            break
        assumed.append(fault)
        counts = _counts(scale, assumed)
    return assumed


def _counts(scale: Scale, assumed: Iterable[Fault]) -> Ints:
    counts = np.zeros(len(scale.failures), dtype=np.int64)
    for fault in assumed:
        counts += np.array([fault.spoils(failure) for failure in scale.failures], dtype=np.int64)
    return counts


def _in_place_of(scale: Scale, assumed: Sequence[Fault], number: int) -> Question:
    """The question that the fault `number` answers, when the others are taken for granted."""
    others = [fault for at, fault in enumerate(assumed) if at != number]
    counts = _counts(scale, others)
    own = [
        at
        for at, failure in enumerate(scale.failures)
        if counts[at] == 0 and assumed[number].spoils(failure)
    ]
    return _question(scale, scale.weigh(counts), own)


def _question(scale: Scale, weights: Weights, own: Sequence[int]) -> Question:
    """All that could explain the failures `own`: faults that spoil none of them are no answers."""
    failures = tuple(scale.failures[number] for number in own)
    hosts = np.full(len(weights.hosts), -np.inf)
    network = np.full(len(weights.network), -np.inf)
    for failure in failures:
        hosts[failure.members] = weights.hosts[failure.members]
        network[failure.network] = weights.network[failure.network]
    held = weights.pairs.hit[:, list(own)].any(axis=1)
    pairs = np.where(held, weights.pair_odds, -np.inf)
    combined, scattered = _combined(scale, failures)
    odds = [logsum(hosts), logsum(network), logsum(pairs), scattered, 0.0]
    total = logsum(np.array([*odds, *(weight for _, weight in combined)]))
    return Question(
        failures,
        weights,
        np.exp(hosts - total),
        np.exp(network - total),
        np.exp(pairs - total),
        tuple(Hypothesis(faults, float(np.exp(odd - total))) for faults, odd in combined),
        float(np.exp(scattered - total)),
        float(np.exp(-total)),
    )


def _combined(
    scale: Scale, failures: Sequence[Failure]
) -> tuple[list[tuple[tuple[Fault, ...], float]], float]:
    """Two or three hosts that explain the failures together, with their log odds; more of them, or
    too many to list, as one sum.
    """
    small = [failure.members for failure in failures if failure.is_small]
    if len(failures) < 2 or not small:
        return [], -np.inf
    hosts = np.unique(np.concatenate(small))
    listed: list[tuple[tuple[Fault, ...], float]] = []
    size = 2
    while comb(len(hosts), size) <= COMBINATIONS and size <= min(3, len(failures)):
        listed += _together(scale, failures, hosts, size)
        size += 1
    listed = sorted(listed, key=lambda item: -item[1])[:LISTED]
    apart = _disjoint(small)
    if len(apart) < size:
        return listed, -np.inf
    alone = sum(logsum(scale.host_base[members]) for members in apart)
    return listed, alone + len(failures) * float(scale.speaks(np.zeros(1, dtype=np.int64))[0])


def _together(
    scale: Scale, failures: Sequence[Failure], hosts: Ints, size: int
) -> list[tuple[tuple[Fault, ...], float]]:
    """Sets of `size` hosts that leave none of the failures unexplained."""
    inside = np.array([np.isin(hosts, failure.members) for failure in failures]).T
    sets = np.array(list(combinations(range(len(hosts)), size)), dtype=np.int64).reshape(-1, size)
    counts = inside[sets].sum(axis=1)
    settings = scale.history.network.settings
    fails = 1 - (1 - settings.false_alarm) * settings.miss**counts
    odds = scale.host_base[hosts[sets]].sum(axis=1)
    odds = odds + np.log(fails / settings.false_alarm).sum(axis=1)
    return [
        (tuple(Fault("host", int(host)) for host in hosts[sets[number]]), float(odds[number]))
        for number in np.flatnonzero((counts > 0).all(axis=1)).tolist()
    ]


def _disjoint(groups: Sequence[Ints]) -> list[Ints]:
    taken: set[int] = set()
    kept = []
    for group in groups:
        if taken.isdisjoint(group.tolist()):
            taken.update(group.tolist())
            kept.append(group)
    return kept


def logsum(odds: Floats) -> float:
    """log of the sum of exponentials; -inf for nothing."""
    top = odds.max(initial=-np.inf)
    if top == -np.inf:
        return -np.inf
    return float(top + np.log(np.exp(odds - top).sum()))
