"""Reader of ping matrices: CSV or JSON lines with the columns of docs/contract.md."""

import csv
from collections.abc import Iterator, Mapping
from io import TextIOWrapper
from math import isfinite
from typing import BinaryIO

import orjson

from diagnosis.core.evidence import Evidence
from diagnosis.core.pings import End, Probe
from diagnosis.readers.errors import UnreadableEvidence

COLUMNS = ("time", "src", "dst", "size_bytes", "sent", "lost", "rtt_p50_us", "rtt_p99_us")
_NEEDED = ("src", "dst", "sent", "lost")

#: Rows that are read from one file: a full matrix of a thousand hosts.
MAX_ROWS = 1_000_000

#: The longest line that is taken, in bytes.
MAX_LINE = 64 * 1024


def read_pings(evidence: Evidence) -> list[Probe]:
    """All rows. Raises `UnreadableEvidence` naming the first line that is wrong."""
    probes: list[Probe] = []
    with evidence.open() as stream:
        for line, row in _rows(stream):
            if len(probes) >= MAX_ROWS:
                raise UnreadableEvidence(f"a ping matrix of more than {MAX_ROWS} rows")
            probes.append(_probe(evidence.name, line, row))
    return probes


def _rows(stream: BinaryIO) -> Iterator[tuple[int, Mapping[str, object]]]:
    text = TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    first = text.readline(MAX_LINE)
    if first.lstrip().startswith("{"):
        yield from _json_rows(first, text)
    else:
        yield from _csv_rows(first, text)
    text.detach()


def _json_rows(first: str, text: TextIOWrapper) -> Iterator[tuple[int, Mapping[str, object]]]:
    number, line = 1, first
    while line:
        if line.strip():
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise UnreadableEvidence(f"ping matrix line {number}: not JSON: {error}") from error
            if not isinstance(row, dict):
                raise UnreadableEvidence(f"ping matrix line {number}: not an object")
            yield number, row
        number, line = number + 1, text.readline(MAX_LINE)


def _csv_rows(first: str, text: TextIOWrapper) -> Iterator[tuple[int, Mapping[str, object]]]:
    header = [name.strip() for name in next(csv.reader([first]), [])]
    missing = [name for name in _NEEDED if name not in header]
    if missing:
        raise UnreadableEvidence(f"ping matrix: no column {', '.join(missing)}")
    number, line = 2, text.readline(MAX_LINE)
    while line:
        if line.strip():
            cells = next(csv.reader([line]))
            if len(cells) != len(header):
                raise UnreadableEvidence(
                    f"ping matrix line {number}: {len(cells)} cells, not {len(header)}"
                )
            yield number, dict(zip(header, cells, strict=True))
        number, line = number + 1, text.readline(MAX_LINE)


def _probe(file: str, line: int, row: Mapping[str, object]) -> Probe:
    where = f"ping matrix line {line}"
    sent, lost = _whole(row, "sent", where), _whole(row, "lost", where)
    if lost > sent:
        raise UnreadableEvidence(f"{where}: {lost} lost of {sent} sent")
    time = row.get("time")
    return Probe(
        source=_end(row, "src", where),
        target=_end(row, "dst", where),
        size=_whole(row, "size_bytes", where) if row.get("size_bytes") not in {None, ""} else 0,
        sent=sent,
        lost=lost,
        rtt_p50=_rtt(row, "rtt_p50_us", where),
        rtt_p99=_rtt(row, "rtt_p99_us", where),
        time=time if isinstance(time, str | int | float) else None,
        file=file,
        line=line,
    )


def _end(row: Mapping[str, object], name: str, where: str) -> End:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip("/ "):
        raise UnreadableEvidence(f"{where}: '{name}' must be a host or host/nic")
    host, _, nic = value.strip().partition("/")
    return End(host, nic or None)


def _number(row: Mapping[str, object], name: str, where: str) -> float:
    value = row.get(name)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise UnreadableEvidence(f"{where}: '{name}' must be a number, not {value!r}") from None
    if not isfinite(number) or number < 0:
        raise UnreadableEvidence(f"{where}: '{name}' must be a number from 0, not {value!r}")
    return number


def _whole(row: Mapping[str, object], name: str, where: str) -> int:
    return int(_number(row, name, where))


def _rtt(row: Mapping[str, object], name: str, where: str) -> float | None:
    """None where nothing came back: an empty cell, or `nan` as tools print it."""
    value = row.get(name)
    if value is None or (isinstance(value, str) and value.strip().lower() in {"", "nan", "null"}):
        return None
    return _number(row, name, where)
