"""How well a round separates the answers to the open questions, in bits."""

import math
from collections.abc import Sequence

import numpy as np

from diagnosis.offline.belief import Question
from diagnosis.offline.faults import Fault
from diagnosis.offline.history import History, group_numbers
from diagnosis.offline.layout import Floats, Ints


def bits(history: History, groups: Sequence[Ints], questions: Sequence[Question]) -> float:
    """Entropy of the groups that would fail, summed over the questions, as if tests never erred.

    Each fault spoils a set of groups; faults that spoil the same set are not told apart. A set is
    known by the sum of its groups' random marks.
    """
    marks = np.random.default_rng(7).random(len(groups) + 1)
    marks[-1] = 0.0
    group_of = group_numbers(groups, len(history.layout))
    spoilt, faults = history.network.hits(group_of, len(groups))
    network = np.zeros(len(history.network))
    np.add.at(network, faults, marks[spoilt])
    return math.fsum(_entropy(one, marks, group_of, network) for one in questions)


def _entropy(question: Question, marks: Floats, group_of: Ints, network: Floats) -> float:
    """Hosts and pairs spoil one group or none, so that their masses are summed by group at once."""
    likely, groups = question.likely, len(marks) - 1
    place = group_of[likely.one]
    together = place == group_of[likely.other]
    single = np.bincount(
        np.where(together & (place >= 0), place, groups), likely.mass, minlength=groups + 1
    )
    single[groups] += question.nothing
    hit = np.flatnonzero(single)
    listed = [_union(one.faults, marks, group_of) for one in question.combined]
    found = np.concatenate([marks[hit], network[likely.network], listed])
    masses = np.concatenate([single[hit], likely.network_mass, likely.combined_mass])
    _, number = np.unique(np.round(found, 9), return_inverse=True)
    shares = np.bincount(number, masses)
    shares = shares[shares > 0] / shares.sum()
    return float(-(shares * np.log2(shares)).sum())


def _union(faults: Sequence[Fault], marks: Floats, group_of: Ints) -> float:
    groups = {int(group_of[fault.one]) for fault in faults} - {-1}
    return float(sum(marks[group] for group in groups))
