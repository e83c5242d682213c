"""Periods and their steps."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from incidents.figures.periods import Period

SINCE = datetime(2026, 3, 4, tzinfo=UTC)  # a Wednesday


def test_twelve_weeks_are_cut_on_mondays() -> None:
    steps = Period(SINCE, SINCE + timedelta(days=84)).steps()

    assert [step.since.weekday() for step in steps[1:]] == [0] * (len(steps) - 1)


@given(st.integers(1, 730), st.integers(0, 3000), st.floats(0, 0.999))
def test_every_instant_is_in_the_step_that_its_place_names(days, offset, share) -> None:
    since = SINCE + timedelta(days=offset)
    period = Period(since, since + timedelta(days=days))
    at = period.since + share * (period.until - period.since)

    (place,) = period.places_of([at.timestamp()])
    step = period.steps()[place]

    assert step.since <= at < step.until


@given(st.integers(1, 730))
def test_steps_follow_each_other_without_gaps(days: int) -> None:
    period = Period(SINCE, SINCE + timedelta(days=days))
    steps = period.steps()

    assert [steps[0].since, *(s.until for s in steps)] == [*(s.since for s in steps), period.until]
