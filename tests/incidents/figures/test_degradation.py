"""Accumulated degradation, against the formula as the paper has it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.figures.degradation import Pace, accumulated, paced

NOTHING = Pace(0.0, 0.0, 0.0)


def formula(times: list[float]) -> float:
    """`sum(Tk - Ts for Tk > Ts) / sum(Tk)` with `Ts = 1.2 * mean(T)`, written out."""
    found = np.array(times)
    limit = 1.2 * found.mean()
    return float((found[found > limit] - limit).sum() / found.sum())


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=60))
def test_it_is_the_papers_formula(times: list[float]) -> None:
    pace = paced(times, [1.0] * len(times), known=NOTHING)

    assert accumulated([pace]) == pytest.approx(formula(times), abs=1e-9)


def test_a_count_stands_for_as_many_iterations() -> None:
    pace = paced([1.0, 2.0], [30, 10], known=NOTHING)

    assert accumulated([pace]) == pytest.approx(formula([1.0] * 30 + [2.0] * 10))


def test_the_limit_rests_on_what_is_known_of_the_job() -> None:
    slow = paced([2.0] * 10, [1.0] * 10, known=Pace(1000, 1000.0, 0.0))

    assert slow.excess == pytest.approx(10 * (2.0 - 1.2 * 1020 / 1010))


def test_a_job_that_was_not_watched_has_no_figure() -> None:
    assert accumulated([]) is None
