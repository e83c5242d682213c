"""Bytes of the HTTP API: whatever comes, it is an answer or a `SourceError`."""

from contextlib import suppress

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.sources.answers import read_range_answer
from diagnosis.sources.errors import SourceError
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.http import HttpAnswer

GRID = TimeGrid(0.0, 60.0, 5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


@given(status=st.integers(200, 599), body=st.binary(max_size=300))
def test_any_bytes_are_an_answer_or_an_error_that_decides(status: int, body: bytes) -> None:
    with suppress(SourceError):
        read_range_answer(HttpAnswer(status, body), GRID)


@settings(max_examples=50)
@given(metric=JSON, values=JSON, more=JSON)
def test_any_series_are_an_answer_or_an_error_that_decides(
    metric: object, values: object, more: object
) -> None:
    rows = [{"metric": metric, "values": values}, more]
    data = {"resultType": "matrix", "result": rows}
    body = orjson.dumps({"status": "success", "data": data, "warnings": more})
    with suppress(SourceError):
        read_range_answer(HttpAnswer(200, body), GRID)


@settings(max_examples=50)
@given(values=st.lists(st.tuples(JSON, JSON)))
def test_any_samples_are_an_answer_or_an_error_that_decides(
    values: list[tuple[object, object]],
) -> None:
    data = {"resultType": "matrix", "result": [{"metric": {}, "values": values}]}
    with suppress(SourceError):
        body = orjson.dumps({"status": "success", "data": data})
        answer = read_range_answer(HttpAnswer(200, body), GRID)
        assert answer.series[0].values.shape == (5,)
