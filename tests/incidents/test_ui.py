"""Small pieces of markup."""

import pytest

from incidents.templatetags.ui import score, timed


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, ""), (0, "0 %"), (0.004, "< 1 %"), (0.985, "98 %"), (0.999, "99 %"), (1, "100 %")],
)
def test_a_probability_is_never_a_false_zero_or_hundred(value: float | None, shown: str):
    assert score(value) == shown


def test_a_time_that_names_utc_becomes_one_for_the_viewers_zone():
    assert timed("fell off at 2026-11-30 14:43:21 UTC; isolate") == (
        'fell off at <time datetime="2026-11-30T14:43:21+00:00" data-show="clock">'
        "2026-11-30 14:43:21 UTC</time>; isolate"
    )


@pytest.mark.parametrize("text", ["at 2026-11-30 14:43:21", "at 2026-99-30 14:43:21 UTC", ""])
def test_what_names_no_zone_or_is_no_time_stays_as_it_is(text: str):
    assert timed(text) == text


def test_the_text_around_a_time_is_escaped():
    assert "&lt;b&gt;" in timed("<b> 2026-11-30 14:43:21 UTC")
