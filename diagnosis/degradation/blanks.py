"""Zeros that no part can measure: an exporter without an answer writes them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.catalogue import MetricDefinition

#: What is never zero while the part lives, by the catalogue's ids.
NEVER_ZERO = frozenset(
    {
        "gpu_power_w",
        "gpu_temp_c",
        "gpu_memtemp_c",
        "gpu_clock_mhz",
        "gpu_mem_clock_mhz",
        "host_mem_gb",
    }
)


@dataclass(frozen=True)
class Blanks:
    """Rows that are never zero, and all rows that the same exporter tells, a pair for each."""

    told_together: tuple[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]], ...]

    @classmethod
    def of(cls, definitions: Sequence[MetricDefinition]) -> "Blanks":
        found = []
        for entity in sorted({item.entity for item in definitions}):
            rows = [row for row, item in enumerate(definitions) if item.entity == entity]
            alive = [row for row in rows if definitions[row].id in NEVER_ZERO]
            if alive:
                found.append((np.array(alive, np.intp), np.array(rows, np.intp)))
        return cls(tuple(found))

    def __call__(self, values: FloatArray) -> FloatArray:
        """The values, (metrics, ...), NaN for the zeros of who answered with blanks; else as is."""
        for alive, rows in self.told_together:
            blank = (values[alive] == 0).any(axis=0)
            if bool(blank.any()):
                values = values.copy()
                told = values[rows]
                told[(told == 0) & blank] = np.nan
                values[rows] = told
        return values
