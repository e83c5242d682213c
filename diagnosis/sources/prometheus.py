"""Client of a Prometheus-compatible server: range queries of any length, with retries."""

from collections.abc import Mapping
from functools import partial
from types import TracebackType

import numpy as np

from diagnosis.sources.answers import RangeAnswer, Series, read_range_answer
from diagnosis.sources.connection import Connection
from diagnosis.sources.grid import POINTS_PER_QUERY, TimeGrid
from diagnosis.sources.http import HttpAnswer, post_form
from diagnosis.sources.retry import Budget, RetryPolicy


class Prometheus:
    """One open connection; a context manager, safe to use from several threads."""

    def __init__(self, connection: Connection, retry: RetryPolicy | None = None) -> None:
        self._connection = connection
        self._retry = retry or RetryPolicy()
        self._client = connection.open()

    def __enter__(self) -> "Prometheus":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def check(self, budget: Budget) -> None:
        """Ask the cheapest question. Raises `SourceError` where the source cannot be used."""
        self.query_range("vector(1)", TimeGrid(start=0.0, step=1.0, samples=1), budget)

    def query_range(
        self,
        promql: str,
        grid: TimeGrid,
        budget: Budget,
        *,
        points_per_query: int = POINTS_PER_QUERY,
    ) -> RangeAnswer:
        """`promql` evaluated at every time of `grid`, asked in parts of `points_per_query`.

        A series that is missing in a part is NaN there. Raises `SourceError` where any part stays
        without an answer: half a window is not given out as a whole one.
        """
        merged: dict[tuple[tuple[str, str], ...], Series] = {}
        notes: dict[str, None] = {}
        for offset, part in grid.parts(min(points_per_query, POINTS_PER_QUERY)):
            answer = self._retry.call(partial(self._ask, promql, part, budget), budget)
            notes |= dict.fromkeys(answer.notes)
            for series in answer.series:
                key = tuple(sorted(series.labels.items()))
                if key not in merged:
                    merged[key] = Series(series.labels, _all_missing(grid))
                merged[key].values[offset : offset + part.samples] = series.values
        return RangeAnswer(tuple(merged.values()), tuple(notes))

    def _ask(self, promql: str, grid: TimeGrid, budget: Budget) -> RangeAnswer:
        seconds = min(self._connection.answer_timeout, budget.require())
        form = {
            "query": promql,
            "start": f"{grid.start:.3f}",
            "end": f"{grid.end:.3f}",
            "step": f"{grid.step:.3f}",
            "timeout": f"{max(1, round(seconds * 1000))}ms",
        }
        return read_range_answer(self._post("api/v1/query_range", form, seconds), grid)

    def _post(self, path: str, form: Mapping[str, str], seconds: float) -> HttpAnswer:
        longest = self._connection.longest_answer
        return post_form(self._client, path, form, seconds=seconds, longest=longest)


def _all_missing(grid: TimeGrid) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.full(grid.samples, np.nan, dtype=np.float32)
