"""Reader of `history.json`: what befell the parts at hand before (docs/contract.md)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from diagnosis.core.devices import DeviceSeat, Seats, pci_address
from diagnosis.core.target import normalise_host
from diagnosis.core.words import TargetKind
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.taxonomy.escalation import PastFinding
from diagnosis.taxonomy.history import History, Offences

_KINDS = (TargetKind.GPU.value, TargetKind.NIC.value)


def read_history(content: bytes) -> History:
    """The history in `{"job"?, "owner"?, "findings": [...], "devices"?: [...], "scores"?: {}}`.

    Raises `UnreadableEvidence` naming the row that is wrong.
    """
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise UnreadableEvidence(f"history is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise UnreadableEvidence("history must be a JSON object with 'findings'")
    seats = Seats(tuple(_seat(at, row) for at, row in enumerate(_rows(document, "devices"))))
    findings = [_finding(at, row, seats) for at, row in enumerate(_rows(document, "findings"))]
    return History(
        past=tuple(sorted(findings, key=lambda one: one.time)),
        seats=seats,
        offences=_offences(document.get("scores") or {}),
        job=_text(document, "job", "history"),
        owner=_text(document, "owner", "history"),
    )


def _rows(document: Mapping[str, Any], name: str) -> list[Any]:
    rows = document.get(name) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UnreadableEvidence(f"history: '{name}' must be a list of objects")
    return rows


def _finding(at: int, row: Mapping[str, Any], seats: Seats) -> PastFinding:
    where = f"history finding {at}"
    code, host, part = (_text(row, name, where) for name in ("code", "host", "part"))
    if code is None:
        raise UnreadableEvidence(f"{where}: 'code' must be a signature's code")
    seat = seats.at(host, part)
    return PastFinding(
        code=code,
        time=_time(row.get("time"), where),
        host=host,
        part=seat.identity if seat else (part and (pci_address(part) or part.lower())),
        job=_text(row, "job", where),
        owner=_text(row, "owner", where),
        identified=seat is not None,
    )


def _seat(at: int, row: Mapping[str, Any]) -> DeviceSeat:
    where = f"history device {at}"
    host, kind = _text(row, "host", where), row.get("kind", TargetKind.GPU.value)
    index = row.get("index")
    if host is None or kind not in _KINDS:
        raise UnreadableEvidence(f"{where}: needs 'host', and a 'kind' of gpu or nic")
    if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
        raise UnreadableEvidence(f"{where}: 'index' must be a number")
    texts = {name: _text(row, name, where) or "" for name in ("serial", "uuid", "name", "model")}
    pci = pci_address(_text(row, "pci", where) or "")
    return DeviceSeat(TargetKind(kind), host, pci=pci, index=index, **texts)


def _offences(scores: object) -> Mapping[str, Offences]:
    if not isinstance(scores, dict):
        raise UnreadableEvidence("history: 'scores' must lead from host to score")
    for host, score in scores.items():
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            raise UnreadableEvidence(f"history: the score of {host} must be from 0 to 1")
    return {
        normalise_host(host): Offences(float(score), "named as the cause before")
        for host, score in scores.items()
    }


def _text(row: Mapping[str, Any], name: str, where: str) -> str | None:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise UnreadableEvidence(f"{where}: '{name}' must be text")
    return value or None


def _time(value: object, where: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise UnreadableEvidence(f"{where}: 'time' must be RFC 3339, or seconds since 1970")
    return at.timestamp()
