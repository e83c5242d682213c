"""Metric windows in long tables: `time, host, device?, metric, value` as CSV or Parquet."""

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from io import BytesIO, StringIO

import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.metrics_grid import LongTable, window_of

_COLUMNS = ("time", "host", "metric", "value")
#: Epoch seconds stay below this until the year 5138; larger numbers are milliseconds.
_MILLISECONDS_FROM = 1e11
#: A row this unreadable now and then is skipped; above this share the file is something else.
BAD_ROWS_SHARE = 0.1

Row = tuple[object, object, object, object, object]


def read_csv(content: bytes) -> MetricWindow:
    """The window in a CSV long table; a broken row now and then is left out.

    Raises `UnreadableEvidence` when a column is missing or more than a tenth of the rows is broken.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableEvidence(f"CSV is not UTF-8: {error}") from error
    head, _, _ = text.partition("\n")
    delimiter = max(",;\t", key=head.count)
    rows = csv.reader(StringIO(text), delimiter=delimiter)
    try:
        header = [name.strip().lower() for name in next(rows)]
        return _window(_picked(rows, _positions(header)))
    except StopIteration:
        raise UnreadableEvidence("CSV is empty") from None
    except csv.Error as error:
        raise UnreadableEvidence(f"not a CSV table: {error}") from error


def read_parquet(content: bytes) -> MetricWindow:
    """The window in a Parquet long table; needs pyarrow, which Aegis does not install by itself."""
    try:
        from pyarrow import ArrowException  # noqa: PLC0415 - optional
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415
    except ImportError:
        raise UnreadableEvidence("Parquet needs pyarrow: pip install pyarrow, or use CSV") from None
    try:
        file = ParquetFile(BytesIO(content))
        positions = _positions([name.lower() for name in file.schema_arrow.names])
        names = [file.schema_arrow.names[i] for i in positions if i is not None]
        table = file.read(columns=names)
        columns = {name: table.column(name).to_pylist() for name in names}
    except (ArrowException, OSError, ValueError) as error:
        raise UnreadableEvidence(f"not a readable Parquet table: {error}") from error
    empty: list[object] = [None] * table.num_rows
    ordered = [empty if i is None else columns[file.schema_arrow.names[i]] for i in positions]
    return _window(zip(*ordered, strict=True))


def _positions(header: Sequence[str]) -> list[int | None]:
    """Where time, host, device, metric and value stand; device may be missing."""
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        raise UnreadableEvidence(f"table lacks the column {', '.join(missing)}")
    at: dict[str, int | None] = {name: header.index(name) for name in _COLUMNS}
    at["device"] = header.index("device") if "device" in header else None
    return [at[name] for name in ("time", "host", "device", "metric", "value")]


def _picked(rows: Iterable[list[str]], positions: Sequence[int | None]) -> Iterator[Row]:
    last = max(i for i in positions if i is not None)
    time, host, device, metric, value = positions
    for row in rows:
        if len(row) > last:
            yield (
                row[time or 0],
                row[host or 0],
                None if device is None else row[device],
                row[metric or 0],
                row[value or 0],
            )
        elif row:
            yield (None, None, None, None, None)


def _window(rows: Iterable[Row]) -> MetricWindow:
    index: dict[tuple[object, object, object], int] = {}
    times: list[float] = []
    values: list[float] = []
    series: list[int] = []
    seen = bad = 0
    for time, host, device, metric, value in rows:
        seen += 1
        at = seconds(time)
        if at is None or not host or not metric:
            bad += 1
            continue
        times.append(at)
        values.append(_number(value))
        series.append(index.setdefault((host, device or None, metric), len(index)))
    if bad > BAD_ROWS_SHARE * seen or not times:
        raise UnreadableEvidence(f"{bad} of {seen} rows have no readable time, host or metric")
    names = [(str(h), None if d is None else str(d), str(m)) for h, d, m in index]
    return window_of(
        LongTable(np.array(times), np.array(values), np.array(series, dtype=np.int64), names)
    )


def seconds(time: object) -> float | None:
    """Epoch seconds of a number (seconds or milliseconds) or of ISO 8601 text (UTC if unsaid)."""
    if isinstance(time, datetime):
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    if isinstance(time, int | float | str):
        try:
            number = float(time)
        except (ValueError, OverflowError):
            return _iso_seconds(str(time))
        if not math.isfinite(number):
            return None
        return number / 1000 if abs(number) > _MILLISECONDS_FROM else number
    return None


def _iso_seconds(text: str) -> float | None:
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def _number(value: object) -> float:
    """The value, NaN where it is missing or no number."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan
