"""The answers of the Prometheus HTTP API, bytes → arrays (prometheus.io, "HTTP API")."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import orjson
from numpy.typing import NDArray

from diagnosis.sources.errors import SourceError, SourceFailure, error_of_status, garbage
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.http import HttpAnswer

_PASSING_TYPES = {
    "timeout": SourceFailure.SLOW,
    "canceled": SourceFailure.SLOW,
    "unavailable": SourceFailure.OVERLOADED,
    "internal": SourceFailure.SERVER_ERROR,
}


@dataclass(frozen=True, slots=True)
class Series:
    """One series: its labels and its values on the grid, float32 (samples,), NaN = missing."""

    labels: Mapping[str, str]
    values: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RangeAnswer:
    """The series of one range query and what the server said beside them."""

    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()


def read_range_answer(answer: HttpAnswer, grid: TimeGrid) -> RangeAnswer:
    """A matrix on `grid`. Raises `SourceError` for an error, or an answer that is no matrix."""
    data, notes = _data(answer)
    rows = data.get("result")
    if data.get("resultType") != "matrix" or not isinstance(rows, list):
        raise garbage("the answer is no matrix of series")
    try:
        series = tuple(_series(row, grid) for row in rows)
    except (TypeError, ValueError, KeyError) as error:
        raise garbage(f"a series of the answer cannot be read: {error}") from error
    return RangeAnswer(series, notes)


def _data(answer: HttpAnswer) -> tuple[Mapping[str, object], tuple[str, ...]]:
    """The `data` object of a successful answer with its warnings and infos."""
    envelope = _envelope(answer.body)
    if envelope is None and answer.status == 200:
        raise garbage(f"the answer is no JSON object of the API: {_excerpt(answer.body)!r}")
    if envelope is None or envelope.get("status") != "success" or answer.status >= 300:
        raise _error(answer, envelope or {})
    data = envelope.get("data")
    if not isinstance(data, Mapping):
        raise garbage("the answer has no data")
    return data, (*_texts(envelope.get("warnings")), *_texts(envelope.get("infos")))


def _envelope(body: bytes) -> Mapping[str, object] | None:
    try:
        envelope = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return envelope if isinstance(envelope, Mapping) and "status" in envelope else None


def _error(answer: HttpAnswer, envelope: Mapping[str, object]) -> SourceError:
    kind, said = str(envelope.get("errorType") or ""), str(envelope.get("error") or "")
    text = f"{kind}: {said}" if said else _excerpt(answer.body)
    if answer.status == 200:
        return SourceError(
            text,
            failure=_PASSING_TYPES.get(kind, SourceFailure.REJECTED),
            permanent=kind not in _PASSING_TYPES,
            status=200,
        )
    message = f"HTTP {answer.status}" + (f", {text}" if text else "")
    return error_of_status(answer.status, message, retry_after=answer.retry_after)


def _excerpt(body: bytes) -> str:
    return " ".join(body[:200].decode("utf-8", "replace").split())


def _texts(given: object) -> tuple[str, ...]:
    return tuple(str(text) for text in given) if isinstance(given, list) else ()


def _series(row: object, grid: TimeGrid) -> Series:
    """One element of `result`; a native histogram has no plain values and stays all missing."""
    if not isinstance(row, Mapping):
        raise TypeError("it is no object")
    labels = row["metric"]
    pairs = row.get("values", [])
    if not isinstance(labels, Mapping) or not isinstance(pairs, list):
        raise TypeError("labels or values are missing")
    times = np.array([time for time, _ in pairs], dtype=np.float64)
    values = np.array([float(value) for _, value in pairs], dtype=np.float64)
    if times.ndim != 1 or not np.isfinite(times).all():
        raise ValueError("a time is no number")
    return Series({str(k): str(v) for k, v in labels.items()}, grid.place(times, values))
