"""Did a host move, or only its peers? An exporter that is stuck repeats its last value."""

import numpy as np

from diagnosis.degradation.cells import Cell, column_at
from diagnosis.degradation.state import Watch

#: A value has stood still for long after so many times as it takes for a new one.
_LONG = 5.0
#: A part that is held at one value was at least this share as far away from the first moment on.
_HELD = 0.85


def moved_itself(state: Watch, cell: Cell, share: float) -> bool:
    """Is the host itself this share of the distance away from its usual level, by a live value?

    A value that was with its peers when it was last new stood still while they left, or came back.
    """
    row, entity = cell.row, cell.entity
    sign, least = np.sign(cell.distance), share * cell.size
    if sign * _from_usual(state, row, entity) < least:
        return False
    if sign * state.recent.away[row, entity] < least:
        return False
    told = len(state.panel.metrics)
    rows = [row] if row < told else state.scaling.blends[row - told].rows.tolist()
    return not any(_stuck(state, member, entity) for member in rows)


def _stuck(state: Watch, row: int, entity: int) -> bool:
    """Has the value stood still for long, while its peers went further away from it?"""
    still_s = state.time - state.start - float(state.recent.changed[row, entity])
    if still_s < _LONG * float(state.every[row, 0]):
        return False
    now = _from_usual(state, row, entity) - column_at(state.common.last, row, entity)
    size = max(abs(now), abs(float(state.fast.mean[row, entity])))
    then = abs(float(state.recent.away[row, entity]))
    return size > float(state.scaling.floor[row, 0]) and then < _HELD * size


def _from_usual(state: Watch, row: int, entity: int) -> float:
    """How far the last value is from where it usually is."""
    usual = float(state.offset[row, entity]) + column_at(state.common.level, row, entity)
    return float(state.recent.last[row, entity]) - usual
