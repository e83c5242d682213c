"""lspci, STREAM, fio, dmidecode, and the runner's own readings."""

import re
from typing import Any

import orjson

from diagnosis.checks.output import Unreadable, Value
from diagnosis.checks.parsers.numbers import number, printed

_DEVICE = re.compile(r"^((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (.+)$")
_LINK = re.compile(r"LnkSta:\s*Speed ([\d.]+)GT/s( \(\w+\))?, Width x(\d+)( \(\w+\))?")


def lspci(text: str) -> list[Value]:
    """`lspci -vv` of some devices: `link_speed` (GT/s), `link_width` (lanes) and `downgraded`.

    A blank line ends each device.
    """
    values, device, described = [], "", 0
    for line in text.splitlines():
        if found := _DEVICE.match(line):
            device, described = found[1], described + 1
        elif found := _LINK.search(line):
            below = float("(downgraded)" in line)
            values += [
                Value("link_speed", number(found[1]), device),
                Value("link_width", number(found[3]), device),
                Value("downgraded", below, device),
            ]
    if not described or not text.endswith("\n\n"):
        raise Unreadable("no device of lspci, or only a part of one")
    return [Value("devices", float(described)), *values]


_STREAM = re.compile(r"^(Copy|Scale|Add|Triad):\s+([\d.]+)", re.MULTILINE)


def stream(text: str) -> list[Value]:
    """STREAM: best rates in MB/s of `copy`, `scale`, `add`, `triad`, once its results are right."""
    rates = [Value(name.lower(), number(rate)) for name, rate in _STREAM.findall(text)]
    if len(rates) != 4 or "Solution Validates" not in text:
        raise Unreadable("STREAM did not end with four rates and a valid solution")
    return rates


def fio(text: str) -> list[Value]:
    """`fio --output-format=json`: `read_mbps`, `write_mbps`, `*_iops`, `*_p99_us`, `errors`."""
    start = text.find("{")
    try:
        document = orjson.loads(text[start:] if start >= 0 else "")
        jobs = document["jobs"]
        values = [value for job in jobs for value in _fio_job(job)]
        errors = sum(int(job.get("error", 0)) for job in jobs)
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise Unreadable(f"no result of fio: {error}") from error
    if not values:
        raise Unreadable("fio moved no data")
    return [Value("errors", float(errors)), *values]


def _fio_job(job: dict[str, Any]) -> list[Value]:
    values = []
    for way in ("read", "write"):
        side = job[way]
        if not side.get("total_ios"):
            continue
        values += [
            Value(f"{way}_mbps", float(side["bw_bytes"]) / 1e6),
            Value(f"{way}_iops", float(side["iops"])),
        ]
        late = side.get("clat_ns", {}).get("percentile", {}).get("99.000000")
        values += [Value(f"{way}_p99_us", float(late) / 1e3)] if late is not None else []
    return values


def dmidecode(text: str) -> list[Value]:
    """`dmidecode -t memory`: `modules` that are fitted, `size_gb` and `speed` (MT/s) of each."""
    if "# dmidecode" not in text or "Memory Device" not in text or not text.endswith("\n\n"):
        raise Unreadable("no memory device of dmidecode, or only a part of one")
    values, modules = [], 0
    for block in re.split(r"\n\s*\n", text):
        if "Memory Device" not in block:
            continue
        told = dict(re.findall(r"^\s+([A-Za-z ]+): (.+)$", block, re.MULTILINE))
        size = re.fullmatch(r"(\d+) (MB|GB)", told.get("Size", ""))
        if size is None:
            continue
        modules += 1
        device = told.get("Locator", f"module {modules}")
        values.append(Value("size_gb", float(size[1]) / (1024 if size[2] == "MB" else 1), device))
        rate = told.get("Configured Memory Speed") or told.get("Speed") or ""
        speed = re.match(r"(\d+) M", rate)
        values += [Value("speed", float(speed[1]), device)] if speed else []
    return [Value("modules", float(modules)), *values]


_READING = re.compile(r"^reading ([a-z0-9_.]+)(?:@(\S+))? (.+)$", re.MULTILINE)


def readings(text: str) -> list[Value]:
    """Lines `reading NAME[@DEVICE] VALUE`, ended by a line `done`: what the runner's own checks
    print, and what a site's own scripts may.
    """
    if not re.search(r"^done\s*$", text, re.MULTILINE):
        raise Unreadable("the readings do not end with 'done'")
    return [printed(name, value, device) for name, device, value in _READING.findall(text)]
