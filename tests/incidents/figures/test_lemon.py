"""The repeat-offender score as a pure function of a host's past."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from incidents.figures.lemon import Accusation, LemonRule, Standing, lemon_score

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def ago(days: float, standing: Standing = Standing.CONFIRMED, probability: float = 1.0):
    return Accusation(NOW - timedelta(days=days), probability, standing)


PASTS = st.lists(
    st.builds(ago, st.floats(0, 1000), st.sampled_from(Standing), st.floats(0, 1)), max_size=12
)


def score(*past: Accusation) -> float:
    return lemon_score(past, NOW).score


def test_a_host_without_a_past_scores_nothing() -> None:
    assert score() == 0.0


def test_one_fault_is_bad_luck_and_four_are_a_lemon() -> None:
    assert score(ago(1)) < 0.05
    assert 0.5 < score(ago(1), ago(5), ago(9)) < 0.6
    assert score(ago(1), ago(5), ago(9), ago(13)) > 0.8


def test_the_published_site_gives_the_odds() -> None:
    worst, others = 0.245 / 0.05, 0.755 / 0.95
    exposure = LemonRule().expected
    odds = (
        (0.05 / 0.95) * (worst / others) ** 2 * 2.718281828459045 ** (-(worst - others) * exposure)
    )
    assert abs(score(ago(0), ago(0)) - odds / (1 + odds)) < 1e-9


def test_what_was_cleared_does_not_count_and_what_was_rejected_hardly() -> None:
    assert score(*[ago(1, Standing.CLEARED)] * 5) == 0.0
    assert score(*[ago(1, Standing.REJECTED)] * 5) < score(ago(1))


def test_a_fault_counts_half_after_its_half_life() -> None:
    assert lemon_score([ago(90)], NOW).faults == 0.5


@given(PASTS)
def test_it_is_a_probability_and_one_more_fault_never_lowers_it(past: list[Accusation]) -> None:
    before, after = score(*past), score(*past, ago(3))
    assert 0.0 <= before <= after <= 1.0


@given(PASTS, st.floats(1, 400))
def test_a_past_that_grows_older_counts_less(past: list[Accusation], days: float) -> None:
    later = lemon_score(past, NOW + timedelta(days=days)).score
    assert later <= score(*past) + 1e-12


@given(PASTS)
def test_the_order_of_the_past_does_not_matter(past: list[Accusation]) -> None:
    assert abs(score(*past) - score(*reversed(past))) < 1e-12
