from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.readers.logs_times import Clock, finer, may_hold_stamp, stamp_at, with_year


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "time", "clock"),
    [
        ("2025-03-04T02:07:08.408Z x", "2025-03-04T02:07:08.408", Clock.ZONED),
        ("2025-03-04T10:07:08+08:00 x", "2025-03-04T02:07:08", Clock.ZONED),
        ("2025-03-04T02:07:08+0000 x", "2025-03-04T02:07:08", Clock.ZONED),
        ("2025-03-04 02:07:08,123 INFO x", "2025-03-04T02:07:08.123", Clock.ZONE_ASSUMED),
        ("[2025-03-04 02:07:08,123] [INFO] x", "2025-03-04T02:07:08.123", Clock.ZONE_ASSUMED),
        ("2025-03-04_02:07:08", "2025-03-04T02:07:08", Clock.ZONE_ASSUMED),
        ("2025-03-04 02:07 x", "2025-03-04T02:07:00", Clock.ZONE_ASSUMED),
        ("2025/03/04 02:07:08 x", "2025-03-04T02:07:08", Clock.ZONE_ASSUMED),
        ("Tue 2025-03-04 02:07:08 UTC node-1", "2025-03-04T02:07:08", Clock.ZONED),
        ("[Tue Mar  4 02:07:08 2025] NVRM", "2025-03-04T02:07:08", Clock.ZONE_ASSUMED),
        ("[Mar 04 2025 02:07:08] [ERROR]", "2025-03-04T02:07:08", Clock.ZONE_ASSUMED),
        ("2025 Mar  4 02:07:08.081264 leaf-14", "2025-03-04T02:07:08.081264", Clock.ZONE_ASSUMED),
        ("03/04/2025 | 02:07:08 | Fan", "2025-03-04T02:07:08", Clock.ZONE_ASSUMED),
        ("[03/04/25 02:07:08] INFO     x", "2025-03-04T02:07:08", Clock.ZONE_ASSUMED),
        ("04/Mar/2025:10:07:08 +0800 x", "2025-03-04T02:07:08", Clock.ZONED),
        ("1741054028.5 x", "2025-03-04T02:07:08.5", Clock.ZONED),
        ("Mar  4 02:07:08 node-1 kernel: x", "2000-03-04T02:07:08", Clock.YEAR_UNKNOWN),
        ("[E304 02:07:08.408271257 x", "2000-03-04T02:07:08.408271", Clock.YEAR_UNKNOWN),
        ("E1130 06:20:07.249 12 x.py:3] y", "2000-11-30T06:20:07.249", Clock.YEAR_UNKNOWN),
        ("03-04 02:07:08 [core.py:1] x", "2000-03-04T02:07:08", Clock.YEAR_UNKNOWN),
    ],
)
def test_every_grammar_gives_its_time(text: str, time: str, clock: Clock) -> None:
    found = stamp_at(text)
    assert found is not None
    assert (round(found[0].time, 6), found[0].clock) == (round(utc(time), 6), clock)


@pytest.mark.parametrize("text", ["[81233.412210] NVRM", "[    4.812210] x", "<3>[   12.340000] x"])
def test_uptime_counts_from_the_boot(text: str) -> None:
    found = stamp_at(text)
    assert found is not None
    assert found[0].clock is Clock.UPTIME


@pytest.mark.parametrize(
    "text",
    [
        "iteration 3383/ 8000",
        "2025-13-04 02:07:08 x",
        "2025-03-04 25:07:08 x",
        "E1340 02:07:08 x",
        "",
    ],
)
def test_what_is_no_time_gives_none(text: str) -> None:
    assert stamp_at(text) is None


def test_29_february_without_a_year_is_a_time() -> None:
    assert stamp_at("Feb 29 02:07:08 node-1 kernel: x") is not None


@pytest.mark.parametrize("year", [2023, 2024, 2025])
@pytest.mark.parametrize("day", ["01-31", "03-01", "12-31"])
def test_a_year_put_into_a_stamp_keeps_the_day(year: int, day: str) -> None:
    found = stamp_at(f"{day} 02:07:08 x")
    assert found is not None
    assert with_year(found[0], year).time == utc(f"{year}-{day}T02:07:08")


def test_a_coarse_collector_stamp_lends_its_year_to_the_finer_one() -> None:
    outer, inner = stamp_at("2025-02-18 12:54 x"), stamp_at("[E218 04:54:22.66 x")
    assert outer is not None
    assert inner is not None
    assert round(finer(outer[0], inner[0]).time, 2) == round(utc("2025-02-18T04:54:22.66"), 2)


@given(st.text(max_size=60), st.integers(0, 10))
def test_no_text_makes_the_parser_raise(text: str, position: int) -> None:
    stamp_at(text, position)


def test_a_time_far_into_a_line_is_none_that_it_begins_with() -> None:
    line = b"x" * 100_000 + b" 12:00:00"
    assert may_hold_stamp(line, len(line) - 20, len(line))
    assert not may_hold_stamp(line, 0, len(line))
