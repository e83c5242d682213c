"""nccl-tests and rccl-tests, perftest's ib_write_bw, ibstat."""

import re

from diagnosis.checks.output import Unreadable, Value
from diagnosis.checks.parsers.numbers import number, printed

_AVERAGE = re.compile(r"^#\s*Avg bus bandwidth\s*:\s*(\S+)", re.MULTILINE)
_BOUNDS = re.compile(r"^#\s*Out of bounds values\s*:\s*(\d+)", re.MULTILINE)
_ROW = re.compile(r"^\s*\d+\s+\d+\s+\w+\s+\w+\s+-?\d+\s+(.+)$", re.MULTILINE)


def nccl_tests(text: str) -> list[Value]:
    """all_reduce_perf and its kin: `busbw` (average, GB/s), `peak_busbw` and `wrong` results.

    A row is size, count, type, operation, root, then time, algbw, busbw, #wrong out of place and
    again in place.
    """
    average, bounds = _AVERAGE.search(text), _BOUNDS.search(text)
    if average is None or bounds is None:
        raise Unreadable("nccl-tests did not get to its average bus bandwidth")
    values = [Value("busbw", number(average[1])), Value("wrong", number(bounds[1]))]
    peaks = [
        number(cells[place])
        for cells in (row.split() for row in _ROW.findall(text))
        for place in (2, 6)
        if place < len(cells)
    ]
    return [*values, Value("peak_busbw", max(peaks))] if peaks else values


_HEAD = re.compile(r"#bytes\s+#iterations\s+BW peak\[(\S+?)\]\s+BW average\[\S+?\]")
_LINE = re.compile(r"^\s*(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*$", re.MULTILINE)
_GBPS = {"Gb/sec": 1.0, "MB/sec": 8 * 1.048576e-3, "MiB/sec": 8 * 1.048576e-3}


def ib_write_bw(text: str) -> list[Value]:
    """perftest's bandwidth tests: `bandwidth` (average, Gb/s) at the largest size, and the peak."""
    head = _HEAD.search(text)
    rows = _LINE.findall(text[head.end() :]) if head else []
    if head is None or not rows or head[1] not in _GBPS or not text.rstrip().endswith("---"):
        raise Unreadable("no table of a bandwidth test, or one without its end")
    scale = _GBPS[head[1]]
    _, _, peak, average, _ = max(rows, key=lambda row: int(row[0]))
    return [
        Value("bandwidth", number(average) * scale),
        Value("peak_bandwidth", number(peak) * scale),
    ]


_ADAPTER = re.compile(r"^CA '([^']+)'")
_PORT = re.compile(r"^\s+Port (\d+):")
_FIELD = re.compile(r"^\s+(State|Physical state|Rate|Link layer): *(\S.*)$")


def ibstat(text: str) -> list[Value]:
    """ibstat: `state`, `physical_state`, `rate` (Gb/s) and `link_layer` of each port."""
    values, adapter, port = [], "", ""
    for line in text.splitlines():
        if found := _ADAPTER.match(line):
            adapter, port = found[1], ""
        elif found := _PORT.match(line):
            port = f"{adapter}/{found[1]}"
        elif port and (found := _FIELD.match(line)):
            name = found[1].lower().replace(" ", "_")
            values.append(printed(name, found[2], port))
    ports = {value.device for value in values}
    if not ports or any(not {"state", "rate"} <= _told(values, port) for port in ports):
        raise Unreadable("no port of ibstat, or one without state and rate")
    active = sum(value.name == "state" and value.value == "Active" for value in values)
    return [Value("active_ports", float(active)), *values]


def _told(values: list[Value], port: str) -> set[str]:
    return {value.name for value in values if value.device == port}
