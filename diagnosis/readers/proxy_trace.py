"""RCCL's proxy trace (RCCL_ENABLE_PROXY_TRACE=1): one text line per operation that is active.

`posted` and `done` (or, where lines have none, `transmitted` and `received`) are steps of the
network proxy: work requests that were posted and that completed. Nothing inside a node appears.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from diagnosis.core.collectives import NOT_KNOWN
from diagnosis.core.counters import CounterRow, CounterSheet, Outstanding
from diagnosis.core.evidence import Evidence

SOURCE = "RCCL proxy trace"
_HEAD = re.compile(r"<(?P<comm>[0-9a-fA-Fx]+):(?P<count>-?\d+):(?P<op>-?\d+)>")
_ENDS = re.compile(r"\b(?P<rank>\d+)->(?P<peer>\d+)\((?P<way>[SR])\)")
_FIELD = re.compile(
    r"\b(?P<name>createT|lastT|status|po|done|trans|recvd|ns)\s*:\s*(?P<value>[\w.]+)"
)
#: What a line of such a trace holds, and no other log does.
TOKENS = (b"->", b"chan:", b"status:", b"po:")


@dataclass(frozen=True, slots=True)
class ProxyOperation:
    """One line: whose it is, to whom, and how many steps it has posted and completed."""

    communicator: str
    count: int
    rank: int
    peer: int
    sends: bool
    posted: int
    completed: int
    created: float | None
    line: int

    @property
    def is_outstanding(self) -> bool:
        return self.posted > self.completed


def looks_like_proxy_trace(line: bytes) -> bool:
    return b"<" in line and all(token in line for token in TOKENS)


def read_proxy_trace(evidence: Evidence) -> CounterSheet:
    """One row per communicator and rank: work requests over all its active operations."""
    rows: dict[tuple[str, int], CounterRow] = {}
    with evidence.open() as stream:
        for number, line in enumerate(iter(lambda: stream.readline(1 << 16), b""), start=1):
            if looks_like_proxy_trace(line):
                operation = proxy_operation(line.decode(errors="replace"), number)
                if operation is not None:
                    _add(rows, evidence.name, operation)
    return CounterSheet(tuple(rows.values()))


def proxy_operation(line: str, number: int) -> ProxyOperation | None:
    """The operation that a line tells of; None where its ends or numbers are missing."""
    head, ends = _HEAD.search(line), _ENDS.search(line)
    if head is None or ends is None:
        return None
    told = {found["name"]: found["value"] for found in _FIELD.finditer(line)}
    sends = ends["way"] == "S"
    through = told.get("done") or told.get("trans" if sends else "recvd")
    if not told.get("po", "").isdecimal() or through is None or not through.isdecimal():
        return None
    return ProxyOperation(
        communicator=head["comm"],
        count=int(head["count"]),
        rank=int(ends["rank"]),
        peer=int(ends["peer"]),
        sends=sends,
        posted=int(told["po"]),
        completed=int(through),
        created=_seconds(told),
        line=number,
    )


def _seconds(told: Mapping[str, str]) -> float | None:
    try:
        return float(told["createT"])
    except (KeyError, ValueError):
        return None


def _add(rows: dict[tuple[str, int], CounterRow], name: str, operation: ProxyOperation) -> None:
    key = (operation.communicator, operation.rank)
    known = rows.get(key)
    if known is None:
        known = CounterRow(
            communicator=operation.communicator,
            rank=operation.rank,
            source=SOURCE,
            evidence=name,
            line=operation.line,
            wr=0,
            wc=0,
        )
    oldest = known.oldest
    if operation.is_outstanding:
        mine = Outstanding(peer=operation.peer, posted=operation.created)
        oldest = mine if oldest is None else min(oldest, mine, key=_age)
    rows[key] = replace(
        known,
        launched=max(known.launched, operation.count),
        wr=known.wr + operation.posted,
        wc=known.wc + operation.completed,
        oldest=oldest,
    )


def _age(item: Outstanding) -> tuple[float, int]:
    return (float("inf") if item.posted is None else item.posted, max(item.peer, NOT_KNOWN))
