"""Progress reports: the contract's shape is taken, anything else is named by its place."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.core.live_progress import Phase
from diagnosis.readers.progress_reports import BadReports, read_reports

GOOD: dict[str, Any] = {
    "time": "2026-11-30T06:20:00Z",
    "reports": [
        {
            "rank": 1,
            "step": 7,
            "phase": "train",
            "comms": [
                {"comm": "dp", "enqueued": 5, "started": 4, "completed": 3},
                {"comm": "tp", "enqueued": 9, "completed": -1},
            ],
        },
        {"rank": 0},
    ],
}


def changed(**more: Any) -> dict[str, Any]:
    return {**GOOD, **more}


def test_the_contracts_shape_becomes_columns():
    batch = read_reports(GOOD)

    assert batch.ranks.tolist() == [1, 0]
    assert batch.step.tolist() == [7, -1]
    assert batch.phase.tolist() == [Phase.TRAIN, Phase.UNKNOWN]
    assert batch.counters.names == ("dp", "tp")
    assert batch.counters.started.tolist() == [4, -1]
    assert batch.told_comms.tolist() == [True, False]


def test_seconds_and_rfc_3339_are_the_same_time():
    assert read_reports(changed(time=1796019600)).time == read_reports(GOOD).time


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (None, ()),
        ({**GOOD, "tme": 1}, ("tme",)),
        (changed(time="2026-11-30T06:20:00"), ("time",)),
        (changed(time=True), ("time",)),
        (changed(reports=[]), ("reports",)),
        (changed(reports=[7]), ("reports", 0)),
        (changed(reports=[{"rank": -1}]), ("reports", 0, "rank")),
        (changed(reports=[{"rank": 1.5}]), ("reports", 0, "rank")),
        (changed(reports=[{"rank": 1}, {"rank": 1}]), ("reports", 1, "rank")),
        (changed(reports=[{"rank": 1, "phase": "lunch"}]), ("reports", 0, "phase")),
        (changed(reports=[{"rank": 1, "stepp": 1}]), ("reports", 0, "stepp")),
        (changed(reports=[{"rank": 1, "comms": {}}]), ("reports", 0, "comms")),
        (
            changed(reports=[{"rank": 1, "comms": [{"comm": "a", "enqueued": 1}]}]),
            ("reports", 0, "comms", 0, "completed"),
        ),
        (
            changed(reports=[{"rank": 1, "comms": [{"comm": "", "enqueued": 1, "completed": 1}]}]),
            ("reports", 0, "comms", 0, "comm"),
        ),
    ],
)
def test_what_cannot_be_taken_is_named_by_its_place(body: object, place: tuple[str | int, ...]):
    with pytest.raises(BadReports) as raised:
        read_reports(body)

    assert place in [at for at, _ in raised.value.errors]


def test_many_bad_rows_are_named_up_to_a_limit():
    with pytest.raises(BadReports) as raised:
        read_reports(changed(reports=[{"rank": "x"}] * 5000))

    assert 100 <= len(raised.value.errors) <= 110


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(json_values, json_values, json_values)
def test_any_json_is_taken_or_refused_and_never_breaks(time: Any, rank: Any, comms: Any):
    body = {"time": time, "reports": [{"rank": rank, "comms": comms}]}
    try:
        batch = read_reports(orjson.loads(orjson.dumps(body, option=orjson.OPT_NON_STR_KEYS)))
    except (BadReports, orjson.JSONEncodeError):
        return
    assert len(batch.ranks) == 1
