"""Time grids: their times, parts and edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.sources.grid import TimeGrid


@given(
    start=st.floats(0, 2e9),
    length=st.floats(0, 1e5),
    step=st.sampled_from([0.5, 1, 15, 60, 300]),
)
def test_a_grid_covers_every_multiple_of_its_step_in_the_window(
    start: float, length: float, step: float
) -> None:
    times = TimeGrid.covering(start, start + length, step).times
    wanted = math.floor((start + length) / step) - math.ceil(start / step) + 1
    assert len(times) == pytest.approx(max(0, wanted), abs=1)
    assert np.allclose(times / step, np.rint(times / step))


@given(samples=st.integers(0, 500), longest=st.integers(1, 60))
def test_the_parts_of_a_grid_are_the_grid(samples: int, longest: int) -> None:
    grid = TimeGrid(start=600.0, step=60.0, samples=samples)
    parts = list(grid.parts(longest))
    assert all(part.samples <= longest for _, part in parts)
    joined = np.concatenate([part.times for _, part in parts]) if parts else np.array([])
    assert np.array_equal(joined, grid.times)


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [(0, 60, 0), (0, 60, -1), (60, 0, 1), (0, math.nan, 1), (math.inf, math.inf, 1), (0, 1, 1e-9)],
)
def test_an_impossible_grid_is_refused(start: float, end: float, step: float) -> None:
    with pytest.raises(ValueError, match="no time grid"):
        TimeGrid.covering(start, end, step)


def test_a_value_too_large_for_the_array_is_missing() -> None:
    placed = TimeGrid(0, 60, 2).place(np.array([0.0, 60.0]), np.array([1e300, 1.0]))
    assert np.array_equal(placed, [np.nan, 1.0], equal_nan=True)
