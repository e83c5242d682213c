"""How late every rank is, so that a straggler can be seen among its peers."""

from collections.abc import Mapping

import numpy as np

from diagnosis.collectives.lateness import own_delays, shortest_durations, time_inside
from diagnosis.collectives.merge import Merged
from diagnosis.collectives.settings import CollectiveSettings


def late_by_rank(merged: Merged, settings: CollectiveSettings) -> Mapping[int, float]:
    """Rank → ms by which it keeps its peers waiting at a collective, the mean over all of them.

    Measured as the stragglers were found: by the time inside operations, of which a late rank has
    less than the middle one, else by its own time before each, where it took longer than its peers.
    """
    if shortest_durations(merged, settings):
        return _by_duration(merged)
    delays = own_delays(merged)
    if not len(delays.rank):
        return {}
    ranks, row = np.unique(delays.rank, return_inverse=True)
    late = np.bincount(row, weights=np.maximum(delays.excess, 0)) / np.bincount(row) / 1e6
    return dict(zip(ranks.tolist(), late.tolist(), strict=True))


def _by_duration(merged: Merged) -> Mapping[int, float]:
    spent = {dump.rank: time_inside(dump.entries) for dump in merged.dumps}
    timed = {rank: time.total / time.count for rank, time in spent.items() if time.count}
    middle = float(np.median(list(timed.values())))
    return {rank: max(0.0, middle - each) / 1000 for rank, each in timed.items()}
