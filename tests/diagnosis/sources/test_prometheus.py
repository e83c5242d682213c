"""The client against a real Prometheus."""

import numpy as np
import pytest

from diagnosis.sources.errors import SourceError, SourceFailure
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.prometheus import Prometheus
from diagnosis.sources.retry import Budget
from tests.diagnosis.sources.fleet import MINUTE, START

CLOCK = 'DCGM_FI_DEV_SM_CLOCK{gpu="0",instance="node-01:9400"}'


def test_a_window_of_more_than_11000_points_comes_back_whole(
    fleet: Prometheus, budget: Budget
) -> None:
    grid = TimeGrid.covering(START, START + 119 * MINUTE, 0.5)
    answer = fleet.query_range(f"timestamp({CLOCK})", grid, budget)
    assert grid.samples > 11_000
    assert np.isfinite(answer.series[0].values).all()


def test_parts_of_a_long_window_stand_at_their_own_times(fleet: Prometheus, budget: Budget) -> None:
    grid = TimeGrid.covering(START, START + 60 * MINUTE, 60)
    whole = fleet.query_range(f"time() - {START}", grid, budget)
    parts = fleet.query_range(f"time() - {START}", grid, budget, points_per_query=7)
    assert np.array_equal(parts.series[0].values, np.arange(61) * 60)
    assert np.array_equal(whole.series[0].values, parts.series[0].values)


def test_a_series_that_ends_is_missing_afterwards(fleet: Prometheus, budget: Budget) -> None:
    grid = TimeGrid.covering(START, START + 60 * MINUTE, 60)
    dying = 'DCGM_FI_DEV_SM_CLOCK{gpu="0",instance="node-04:9400"}'
    answer = fleet.query_range(f"last_over_time({dying}[2m])", grid, budget, points_per_query=10)
    known = np.isfinite(answer.series[0].values)
    assert known[: 30 + 1].all()
    assert not known[30 + 3 :].any()


def test_nothing_that_matches_is_an_answer_without_series(
    fleet: Prometheus, budget: Budget
) -> None:
    answer = fleet.query_range("no_such_metric", TimeGrid(START, 60, 5), budget)
    assert answer.series == ()


def test_a_question_that_cannot_be_parsed_is_permanent(fleet: Prometheus, budget: Budget) -> None:
    with pytest.raises(SourceError, match="parse error") as caught:
        fleet.query_range("rate(", TimeGrid(START, 60, 5), budget)
    assert (caught.value.failure, caught.value.permanent) == (SourceFailure.REJECTED, True)
    assert not caught.value.whole_source


def test_a_question_that_fails_in_evaluation_is_permanent(
    fleet: Prometheus, budget: Budget
) -> None:
    many_to_many = "DCGM_FI_DEV_SM_CLOCK * on(gpu) DCGM_FI_DEV_SM_CLOCK"
    with pytest.raises(SourceError, match="execution") as caught:
        fleet.query_range(many_to_many, TimeGrid(START, 60, 5), budget)
    assert (caught.value.status, caught.value.permanent) == (422, True)


def test_the_check_of_a_working_server_is_silent(fleet: Prometheus, budget: Budget) -> None:
    fleet.check(budget)


def test_spent_budget_asks_nothing(fleet: Prometheus) -> None:
    with pytest.raises(SourceError, match="not asked") as caught:
        fleet.query_range("vector(1)", TimeGrid(START, 60, 5), Budget(0.0))
    assert caught.value.failure is SourceFailure.OUT_OF_TIME
