"""nvidia-smi, dcgmi diag, gpu-burn."""

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from diagnosis.checks.output import Unreadable, Value
from diagnosis.checks.parsers.numbers import number, printed

_ABSENT = {"[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "[GPU is lost]", ""}


def nvidia_smi(text: str) -> list[Value]:
    """`nvidia-smi --query-gpu=index,… --format=csv`: a value a column and GPU, named as the column.

    A column that a GPU does not tell is left out.
    """
    rows = list(csv.reader(text.splitlines(), skipinitialspace=True))
    if len(rows) < 2 or "index" not in rows[0]:
        raise Unreadable("no table of nvidia-smi: its first line must name 'index'")
    names = [re.sub(r"\s*\[.*\]$", "", name) for name in rows[0]]
    place = names.index("index")
    values = []
    for row in rows[1:]:
        if len(row) != len(names):
            raise Unreadable(f"a line of nvidia-smi has {len(row)} of {len(names)} columns")
        values += [
            printed(name, cell, f"gpu{row[place]}")
            for name, cell in zip(names, row, strict=True)
            if cell not in _ABSENT
        ]
    gpus = float(len(rows) - 1)
    return [Value("gpus", gpus), *values]


def dcgmi_diag(text: str) -> list[Value]:
    """`dcgmi diag -r N`, table or `-j`: a value (Pass, Fail, Warn, Skip) a test, and `failed`."""
    start = text.find("{")
    values = list(_dcgmi_json(text[start:]) if start >= 0 else _dcgmi_table(text))
    if not values:
        raise Unreadable("no test result of dcgmi diag")
    failed = sum(str(value.value).lower() == "fail" for value in values)
    passed = sum(str(value.value).lower() == "pass" for value in values)
    return [Value("failed", float(failed)), Value("passed", float(passed)), *values]


def _dcgmi_json(text: str) -> Iterator[Value]:
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"dcgmi diag: {error}") from error
    for category in _categories(document):
        for test in category.get("tests", []):
            for result in test.get("results", []):
                device = str(result.get("gpu_id", result.get("entity_id", "")))
                status = result.get("status")
                if not isinstance(status, str):
                    raise Unreadable("a result of dcgmi diag has no status")
                yield Value(str(test.get("name", "")).lower(), status, device and f"gpu{device}")


def _categories(document: Any) -> list[Mapping[str, Any]]:
    for name in ("DCGM Diagnostic", "DCGM GPU Diagnostic"):
        if isinstance(document, Mapping) and isinstance(document.get(name), Mapping):
            found = document[name].get("test_categories")
            return found if isinstance(found, list) else []
    raise Unreadable("no result of dcgmi diag")


_DCGMI_ROW = re.compile(r"\|\s*([A-Za-z][^|]*?)\s*\|\s*(Pass|Fail|Warn|Skip)\b[^|]*\|")


def _dcgmi_table(text: str) -> Iterator[Value]:
    if not text.rstrip().endswith("+"):
        raise Unreadable("the table of dcgmi diag does not end")
    for found in _DCGMI_ROW.finditer(text):
        yield Value(found[1].lower(), found[2])


_TESTED = re.compile(r"^Tested (\d+) GPUs:", re.MULTILINE)
_BURNT = re.compile(r"^\s*GPU (\d+): (OK|FAULTY)", re.MULTILINE)
_RATE = re.compile(r"proc'd:.*?\(([\d.]+) Gflop/s\)")


def gpu_burn(text: str) -> list[Value]:
    """gpu-burn: `state` (OK, FAULTY) of each GPU, `faulty`, and the last `gflops` it printed."""
    tested = _TESTED.search(text)
    states = [Value("state", state, f"gpu{gpu}") for gpu, state in _BURNT.findall(text)]
    if tested is None or len(states) != int(tested[1]):
        raise Unreadable("gpu-burn did not end with a state for each GPU")
    faulty = sum(value.value == "FAULTY" for value in states)
    rates = [Value("gflops", number(rate)) for rate in _RATE.findall(text)[-1:]]
    return [Value("faulty", float(faulty)), *states, *rates]
