"""Common mode: what most hosts do together is one finding about the fleet."""

from dataclasses import replace

import numpy as np

from diagnosis.degradation.answers import FleetShift
from diagnosis.degradation.state import Watch

#: At most this many fleet-wide findings are kept.
KEPT = 40


def note_fleet_shifts(state: Watch, *, hold_s: float) -> None:
    """Begin, keep up and end the fleet-wide findings of each metric."""
    peers = state.common
    size = np.abs(peers.mean)
    limit = np.maximum(2 * state.scaling.floor, 6 * np.sqrt(peers.variance))
    beyond = size > limit
    far = np.count_nonzero(beyond, axis=1) * 2 > beyond.shape[1]
    if not far.any() and all(shift.end is not None or shift.hosts for shift in state.fleet_wide):
        peers.run[:] = 0.0
        return
    peers.run += np.float32(2 * state.step)
    peers.run *= far[:, None]
    names = [state.panel.name(row) for row in range(len(size))]
    open_ones = {
        shift.metric: index
        for index, shift in enumerate(state.fleet_wide)
        if shift.end is None and not shift.hosts
    }
    for row in np.flatnonzero(far | np.isin(names, list(open_ones))):
        name = names[row]
        change = float(np.expm1(np.median(peers.mean[row])))
        if name in open_ones:
            index = open_ones[name]
            known = state.fleet_wide[index]
            larger = max(known.change, change, key=abs)
            ended = None if far[row] else state.time
            state.fleet_wide[index] = replace(known, change=larger, end=ended)
        elif peers.run[row, 0] >= hold_s:
            began = state.time - float(peers.run[row, 0])
            state.fleet_wide.append(FleetShift(name, began, None, change))
            del state.fleet_wide[:-KEPT]
