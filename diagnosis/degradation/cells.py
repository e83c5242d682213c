"""Cells that have stayed out of bounds, and what they look like in their metric's unit."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.runs import cells_of
from diagnosis.degradation.state import Smoothed, Watch


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric of one entity that has stayed out of bounds, as one of the two means sees it.

    `deviations` says how far it is, `onset` when it left (seconds), `lasted` how many times as long
    as needed it has been away.
    """

    row: int
    entity: int
    deviations: float
    onset: float
    lasted: float
    smooth: Smoothed

    @property
    def distance(self) -> float:
        """How far the cell is from its peers on the common scale, with its sign."""
        return float(self.smooth.mean[self.row, self.entity])

    @property
    def along(self) -> FloatArray:
        """All entities' distances in this metric, positive in the cell's direction."""
        along: FloatArray = np.nan_to_num(self.smooth.mean[self.row]) * np.sign(self.distance)
        return along

    @property
    def size(self) -> float:
        return abs(self.distance)


def held_cells(
    state: Watch,
    needed: FloatArray,
    before: FloatArray,
    soonest: FloatArray,
    unmoved: FloatArray,
) -> Iterator[Cell]:
    """Cells out of bounds for `soonest + before` seconds, each by the mean that sees it best.

    A second value says that the first was no glitch; one that stays the same says so after
    `unmoved` seconds.
    """
    strongest: dict[tuple[int, int], Cell] = {}
    for smooth in (state.fast, state.slow):
        lasting = smooth.run >= soonest + before
        lasting &= (smooth.fresh > 0) | (smooth.run >= unmoved)
        for row, entity in zip(*cells_of(lasting), strict=True):
            run = float(smooth.run[row, entity])
            cell = Cell(
                row=row,
                entity=entity,
                deviations=abs(float(smooth.mean[row, entity] / smooth.usual[row, entity])),
                onset=state.time - run,
                lasted=(run - float(before[row, entity])) / float(needed[row, entity]),
                smooth=smooth,
            )
            known = strongest.get((row, entity))
            if known is None or known.deviations < cell.deviations:
                strongest[row, entity] = cell
    yield from strongest.values()


def value_at(column: FloatArray, cell: Cell) -> float:
    """The cell's value in an array that may have one column for all entities."""
    return column_at(column, cell.row, cell.entity)


def column_at(column: FloatArray, row: int, entity: int) -> float:
    """The value of a metric's entity in an array that may have one column for all of them."""
    return float(column[row, entity if column.shape[1] > 1 else 0])


def picture(state: Watch, cell: Cell) -> tuple[float, float, float, float]:
    """Deviations with their sign; value, usual value and the peers' value in the metric's unit."""
    level = value_at(state.common.level, cell)
    away = value_at(state.common.mean, cell)
    offset = float(state.offset[cell.row, cell.entity])
    distance = float(state.fast.mean[cell.row, cell.entity])
    undo = state.scaling.undo
    return (
        cell.deviations,
        undo(offset + level + away + distance, cell.row),
        undo(offset + level, cell.row),
        undo(offset + level + away, cell.row),
    )


def still_away(state: Watch, cell: Cell) -> bool:
    """Is the cell away at this moment, and not only in the memory of the long mean?"""
    at = cell.row, cell.entity
    if state.fast.run[at] > 0:
        return True
    along = state.fast.mean[at] * np.sign(state.slow.mean[at])
    return bool(along > 0.5 * abs(state.slow.mean[at]))
