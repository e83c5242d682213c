"""rocm-smi, amd-smi, rvs, TransferBench."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from diagnosis.checks.output import Unreadable, Value
from diagnosis.checks.parsers.numbers import number, printed


def rocm_smi(text: str) -> list[Value]:
    """`rocm-smi … --json`: each card's values under the names that rocm-smi gives them, in small
    letters, and `cards`.
    """
    document = _json(text, "rocm-smi")
    cards = {name: row for name, row in document.items() if re.fullmatch(r"card\d+", name)}
    if not cards or not all(isinstance(row, Mapping) for row in cards.values()):
        raise Unreadable("no card of rocm-smi")
    values = [
        printed(str(name).lower(), str(value), card)
        for card, row in cards.items()
        for name, value in row.items()
        if str(value) != "N/A"
    ]
    return [Value("cards", float(len(cards))), *values]


def amd_smi(text: str) -> list[Value]:
    """`amd-smi metric|static --json`: values by their path (`pcie.width`), and `gpus`."""
    document = _json(text, "amd-smi")
    rows = document.get("gpu_data") if isinstance(document, Mapping) else document
    if not isinstance(rows, list) or not rows:
        raise Unreadable("no GPU of amd-smi")
    values: list[Value] = []
    for row in rows:
        if not isinstance(row, Mapping) or "gpu" not in row:
            raise Unreadable("a row of amd-smi has no 'gpu'")
        device = f"gpu{row['gpu']}"
        values += [printed(name, value, device) for name, value in _flat(row) if name != "gpu"]
    return [Value("gpus", float(len(rows))), *values]


def _flat(row: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """The leaves with dotted names; `{"value", "unit"}` is one leaf."""
    for name, told in row.items():
        place = f"{path}.{name}" if path else str(name)
        value = told["value"] if isinstance(told, Mapping) and "value" in told else told
        if isinstance(value, Mapping):
            yield from _flat(value, place)
        elif isinstance(value, str | int | float) and value != "N/A":
            yield place, str(value)


def _json(text: str, tool: str) -> Any:
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    try:
        return orjson.loads(text[start:] if start >= 0 else "")
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"{tool}: {error}") from error


_RESULT = re.compile(r"^\[RESULT\] .*?\] (\w+) (\d+) (.*)$", re.MULTILINE)
_PASSED = re.compile(r"\b(?:pass|met): (TRUE|FALSE)\b", re.IGNORECASE)
_GFLOPS = re.compile(r"GFLOPS ([\d.]+)", re.IGNORECASE)


def rvs(text: str) -> list[Value]:
    """ROCm Validation Suite: `pass` (TRUE, FALSE) and `gflops` of each GPU, and `failed`."""
    values = []
    for _, gpu, rest in _RESULT.findall(text):
        if passed := _PASSED.search(rest):
            values.append(Value("pass", passed[1].upper(), f"gpu{gpu}"))
        if rate := _GFLOPS.search(rest):
            values.append(Value("gflops", number(rate[1]), f"gpu{gpu}"))
    if not any(value.name == "pass" for value in values):
        raise Unreadable("no result of rvs")
    failed = sum(value.value == "FALSE" for value in values)
    return [Value("failed", float(failed)), *values]


_AGGREGATE = re.compile(r"Aggregate[^|]*\|\s*([\d.]+) GB/s")
_TRANSFER = re.compile(
    r"^\s*(?:Executor|Transfer)\s*:?\s*([^|\n]+?)\s*\|\s*([\d.]+) GB/s", re.MULTILINE
)


def transferbench(text: str) -> list[Value]:
    """TransferBench: `bandwidth` (GB/s) of each executor and transfer, and the `aggregate`."""
    total = _AGGREGATE.findall(text)
    if not total:
        raise Unreadable("TransferBench did not get to its aggregate")
    values = [Value("bandwidth", number(rate), name) for name, rate in _TRANSFER.findall(text)]
    return [Value("aggregate", number(total[-1])), *values]
