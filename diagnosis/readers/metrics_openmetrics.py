"""Metric windows in OpenMetrics text (and the Prometheus text format with timestamps)."""

import re
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import MetricWindow, TimeArray
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.metrics_grid import LongTable, window_of
from diagnosis.readers.metrics_table import seconds

#: Labels that name the host, the most specific first (metrics.md: exporters disagree).
HOST_LABELS = (
    "hostname", "Hostname", "host", "node", "nodename", "exported_instance", "instance",
)  # fmt: skip
DEVICE_LABELS = ("gpu", "device", "nic", "interface", "port", "chip", "controller")

_SAMPLE = re.compile(
    r"^([A-Za-z_:][\w:]*)\s*(?:\{(.*)\})?\s+([^\s{}]+)(?:\s+([^\s#]+))?\s*(?:#.*)?$"
)
_LABEL = re.compile(r'\s*([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?')
_HOST_PORT = re.compile(r"^(.+):\d+$")


def read_openmetrics(content: bytes) -> MetricWindow:
    """The window in text samples `name{labels} value time`.

    Counters (by `# TYPE`) whose samples only ever grow are turned into rates per second; a drop is
    a reset, and counting starts again at zero. Raises `UnreadableEvidence`.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableEvidence(f"OpenMetrics text is not UTF-8: {error}") from error
    counters: set[str] = set()
    index: dict[tuple[str, str | None, str], int] = {}
    rows: list[tuple[float, float, int]] = []
    bad = 0
    for line in text.splitlines():
        if line.startswith("#"):
            counters |= _typed_counter(line)
        elif line.strip():
            sample = _sample(line)
            if sample is None:
                bad += 1
            else:
                time, value, series = sample
                rows.append((time, value, index.setdefault(series, len(index))))
    if not rows or bad > len(rows) // 10:
        raise UnreadableEvidence(
            f"{bad} of {bad + len(rows)} lines are no samples with a host label and a time"
        )
    table = np.array(rows, dtype=np.float64)
    columns = LongTable(table[:, 0], table[:, 1], table[:, 2].astype(np.int64), list(index))
    return window_of(_with_rates(columns, counters))


def _typed_counter(line: str) -> set[str]:
    words = line.split()
    if len(words) == 4 and words[1] == "TYPE" and words[3] == "counter":
        return {words[2], f"{words[2]}_total"}
    return set()


def _sample(line: str) -> tuple[float, float, tuple[str, str | None, str]] | None:
    found = _SAMPLE.match(line)
    if found is None or found[4] is None:
        return None
    time = seconds(found[4])
    labels = {name: _unescaped(value) for name, value in _LABEL.findall(found[2] or "")}
    host = _first(labels, HOST_LABELS)
    if host is None or time is None:
        return None
    try:
        value = float(found[3])
    except ValueError:
        return None
    port = _HOST_PORT.match(host)
    return time, value, (port[1] if port else host, _device(labels), found[1])


def _first(labels: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((labels[name] for name in names if labels.get(name)), None)


def _device(labels: Mapping[str, str]) -> str | None:
    named = [labels[name] for name in DEVICE_LABELS if labels.get(name)]
    return "/".join(named) or None


def _unescaped(value: str) -> str:
    return value.replace(r"\"", '"').replace(r"\n", "\n").replace(r"\\", "\\")


def _with_rates(table: LongTable, counters: set[str]) -> LongTable:
    counting = np.array([metric in counters for _, _, metric in table.names])
    if not counting.any():
        return table
    time, value = table.time.copy(), table.value.copy()
    for series in _growing(table, counting):
        at = np.flatnonzero(table.series == series)
        at = at[np.argsort(time[at], kind="stable")]
        value[at] = _rates(time[at], value[at])
    return LongTable(time, value, table.series, table.names)


def _growing(table: LongTable, counting: npt.NDArray[np.bool_]) -> Iterator[int]:
    """Series of counters that never fall, but for at most one sample in twenty (resets)."""
    for series in np.flatnonzero(counting):
        steps = np.diff(table.value[table.series == series])
        if steps.size and np.count_nonzero(steps < 0) <= steps.size / 20:
            yield int(series)


def _rates(time: TimeArray, total: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    grown = np.diff(total)
    grown = np.where(grown < 0, total[1:], grown)
    gaps = np.diff(time)
    rates = np.divide(grown, gaps, out=np.full_like(grown, np.nan), where=gaps > 0)
    return np.concatenate([[np.nan], rates])
