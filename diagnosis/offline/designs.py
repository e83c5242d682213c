"""Candidate rounds: disjoint groups, no two of them on one uplink."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from diagnosis.offline.belief import Question
from diagnosis.offline.history import History
from diagnosis.offline.layout import Bools, Ints, Layout

Groups = list[Ints]


def covering(layout: Layout, hosts: Ints, rng: np.random.Generator) -> Groups:
    """Pairs (one group of three where the number is odd) inside ToRs; hosts that are alone under
    theirs go across ToRs as far as the uplinks allow.
    """
    groups: Groups = []
    alone: list[int] = []
    for members in by_block(layout, hosts):
        if len(members) == 1:
            alone += members.tolist()
            continue
        groups += _pairs(rng.permutation(members))
    groups += _across(layout, alone, groups)
    return layout.without_contention(groups)


def by_block(layout: Layout, hosts: Ints) -> list[Ints]:
    """The hosts, ToR by ToR."""
    ordered = hosts[np.argsort(layout.block[hosts], kind="stable")]
    if not len(ordered):
        return []
    return np.split(ordered, np.flatnonzero(np.diff(layout.block[ordered])) + 1)


def _pairs(members: Ints) -> Groups:
    groups = [members[at : at + 2] for at in range(0, len(members) - len(members) % 2, 2)]
    if len(members) % 2:
        groups[-1] = members[-3:]
    return groups


def _across(layout: Layout, alone: Sequence[int], groups: Groups) -> Groups:
    """Lonely hosts in pairs, of one pod where possible; a last one joins what there is."""
    pods: dict[int, list[int]] = {}
    for host in alone:
        pods.setdefault(int(layout.pod[host]), []).append(host)
    found: Groups = []
    for hosts in pods.values():
        found += _pairs(np.array(hosts)) if len(hosts) > 1 else []
    left = [hosts[0] for hosts in pods.values() if len(hosts) == 1]
    if len(left) > 1:
        found += _pairs(np.array(left))
    elif left and groups:
        found.append(np.append(groups.pop(), left[0]))
    return found


@dataclass(frozen=True)
class Cleared:
    """Hosts that have passed and never failed: partners that a suspect may be tested with."""

    layout: Layout
    hosts: Ints

    @classmethod
    def of(cls, history: History, usable: Bools, asked: Iterable[int]) -> "Cleared":
        good = usable & (history.host_passes > 0) & (history.host_failures == 0)
        good[list(asked)] = False
        return cls(history.layout, np.flatnonzero(good))

    def pair_up(self, suspects: Iterable[int], rng: np.random.Generator) -> Groups:
        """Each suspect with a partner under its ToR, else from the nearest with a free uplink."""
        stock: dict[int, list[int]] = {}
        for host in rng.permutation(self.hosts).tolist():
            stock.setdefault(int(self.layout.block[host]), []).append(host)
        groups: Groups = []
        taken: set[tuple[str, str]] = set()
        for suspect in suspects:
            for block in self._nearest(int(self.layout.block[suspect]), stock):
                group = np.array([suspect, stock[block][-1]])
                used = self.layout.uplinks_of(group)
                if taken.isdisjoint(used):
                    stock[block].pop()
                    taken |= used
                    groups.append(group)
                    break
        return groups

    def _nearest(self, block: int, stock: dict[int, list[int]]) -> Iterator[int]:
        if stock.get(block):
            yield block
        pod = self.layout.blocks[block].pod
        others = [other for other, hosts in stock.items() if hosts and other != block]
        yield from sorted(others, key=lambda other: self.layout.blocks[other].pod != pod)[:16]


def small_designs(
    history: History, questions: Sequence[Question], usable: Bools, rng: np.random.Generator
) -> Iterator[Groups]:
    """Rounds on single hosts: with cleared partners, in new pairs, the same again, and mixed."""
    asked = _asked(history, questions, usable)
    partners = Cleared.of(history, usable, asked.tolist())
    again = _disjoint(
        failure.members
        for question in questions
        for failure in question.failures
        if failure.is_small and usable[failure.members].all()
    )
    yield history.layout.without_contention(again)
    for _ in range(history.network.settings.designs_per_kind):
        order = rng.permutation(asked)
        yield partners.pair_up(order.tolist(), rng)
        yield covering(history.layout, order, rng)
        half = order[: (len(order) + 1) // 2]
        rest = covering(history.layout, order[len(half) :], rng)
        mixed = [*partners.pair_up(half.tolist(), rng), *rest]
        yield history.layout.without_contention(mixed)
        some = [group for group in again if rng.random() < 0.5]
        busy = set(np.concatenate(some).tolist()) if some else set()
        others = [host for host in order.tolist() if host not in busy]
        yield history.layout.without_contention([*some, *partners.pair_up(others, rng)])


def _asked(history: History, questions: Sequence[Question], usable: Bools) -> Ints:
    """The hosts that the questions are about."""
    asked = np.zeros(len(history.layout), dtype=bool)
    for question in questions:
        likely = question.hosts > 0.003
        asked |= likely
        for hypothesis in question.combined:
            if hypothesis.probability > 0.003:
                asked[[fault.one for fault in hypothesis.faults]] = True
        for failure in question.failures:
            if failure.is_small and len(question.failures) <= 64:
                asked[failure.members] = True
    return np.flatnonzero(asked & usable)


def _disjoint(groups: Iterable[Ints]) -> Groups:
    taken: set[int] = set()
    kept: Groups = []
    for group in groups:
        hosts = set(group.tolist())
        if taken.isdisjoint(hosts):
            taken |= hosts
            kept.append(group)
    return kept


def large_designs(
    history: History, questions: Sequence[Question], usable: Bools, rng: np.random.Generator
) -> Iterator[Groups]:
    """Rounds on many hosts: ToRs or pods in groups of every size, samples of the likely hosts."""
    layout = history.layout
    everyone = np.flatnonzero(usable)
    likely = _likely(history, questions, usable)
    others = np.setdiff1d(everyone, likely)
    for _ in range(history.network.settings.designs_per_kind):
        yield covering(layout, everyone, rng)
        for hosts in (everyone, likely):
            yield from _chunks_of_blocks(layout, hosts, rng)
            yield from _chunks_of_pods(layout, hosts, rng)
        for share in (0.5, 0.6, 0.7, 0.8):
            yield [_sample(layout, likely, share, rng)]
            some = _sample_of_blocks(layout, likely, share, rng)
            yield [some]
            yield [np.concatenate([some, others])]


def _likely(history: History, questions: Sequence[Question], usable: Bools) -> Ints:
    """The hosts that carry the questions' probability: themselves, in pairs, or by their place."""
    mass = np.zeros(len(history.layout))
    for question in questions:
        mass += question.hosts
        pairs = question.weights.pairs
        mass += np.bincount(pairs.one, question.pairs, len(mass))
        mass += np.bincount(pairs.other, question.pairs, len(mass))
        for number in np.flatnonzero(question.network > 1e-3).tolist():
            hosts = history.network.hosts_of(number)
            mass[hosts] += question.network[number]
    return np.flatnonzero((mass > 1e-3 * mass.max(initial=0)) & usable)


def _chunks_of_blocks(layout: Layout, hosts: Ints, rng: np.random.Generator) -> Iterator[Groups]:
    """Inside each pod its ToRs, 1, 2, 4, … to a group."""
    pods: dict[int, list[Ints]] = {}
    for members in by_block(layout, hosts):
        pods.setdefault(int(layout.pod[members[0]]), []).append(members)
    most = max((len(blocks) for blocks in pods.values()), default=0)
    size = 1
    while size < 2 * most:
        groups = [group for blocks in pods.values() for group in _chunked(blocks, size, rng)]
        yield layout.without_contention(groups)
        size *= 2


def _chunks_of_pods(layout: Layout, hosts: Ints, rng: np.random.Generator) -> Iterator[Groups]:
    pods = [hosts[layout.pod[hosts] == pod] for pod in np.unique(layout.pod[hosts])]
    size = 2
    while size < len(pods):
        yield layout.without_contention(_chunked(pods, size, rng))
        size *= 2


def _chunked(parts: Sequence[Ints], size: int, rng: np.random.Generator) -> Groups:
    order = rng.permutation(len(parts)).tolist()
    chunks = [order[at : at + size] for at in range(0, len(order), size)]
    groups = [np.concatenate([parts[number] for number in chunk]) for chunk in chunks]
    return [group for group in groups if len(group) > 1]


def _sample(layout: Layout, hosts: Ints, share: float, rng: np.random.Generator) -> Ints:
    """A share of the hosts of every ToR, at least one of each."""
    parts = [
        rng.choice(members, max(1, round(share * len(members))), replace=False)
        for members in by_block(layout, hosts)
    ]
    return np.concatenate(parts) if parts else hosts


def _sample_of_blocks(layout: Layout, hosts: Ints, share: float, rng: np.random.Generator) -> Ints:
    """All likely hosts of a share of the ToRs."""
    parts = by_block(layout, hosts)
    number = max(1, round(share * len(parts)))
    chosen = rng.permutation(len(parts))[:number].tolist()
    return np.concatenate([parts[part] for part in chosen]) if chosen else hosts
