"""Chrome-trace events of NCCL's example profiler plugin (plugins/profiler/example, one a line).

A file is about one rank of one communicator. `NET_IB` events are the only stock source of work
requests: `b` is written when one is posted to a queue pair, `e` when its completion was polled.
They carry no peer: the `PROXY` operation that opened before them does.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

import orjson

from diagnosis.core.collectives import NOT_KNOWN
from diagnosis.core.counters import CounterRow, CounterSheet, Outstanding
from diagnosis.core.evidence import Evidence
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.json_lines import LINE_MAX_BYTES, JsonObject, inner, number, text, whole

SOURCE = "NCCL profiler events"
_Request: TypeAlias = tuple[int, int, int]


@dataclass
class _Trace:
    """What one file has told so far."""

    communicator: str = ""
    rank: int = NOT_KNOWN
    operation: str = ""
    launched: dict[str, int] = field(default_factory=dict)
    completed: dict[str, int] = field(default_factory=dict)
    in_flight: dict[int, tuple[str, int]] = field(default_factory=dict)
    peer: int = NOT_KNOWN
    wr: int = 0
    wc: int = 0
    outstanding: dict[_Request, Outstanding] = field(default_factory=dict)
    last_line: int = 0


def read_profiler_trace(evidence: Evidence) -> CounterSheet:
    """One row: the file's rank in its communicator.

    Raises `UnreadableEvidence` where no collective tells whose events these are, and `OSError`
    where the file cannot be opened. The array may be cut off anywhere, as a hung job leaves it.
    """
    trace, damaged = _Trace(), 0
    with evidence.open() as stream:
        for line, content in enumerate(iter(lambda: stream.readline(LINE_MAX_BYTES), b""), 1):
            stripped = content.strip().strip(b"[]").rstrip(b",").strip()
            if not stripped or stripped == b"{}":
                continue
            try:
                event = orjson.loads(stripped)
            except orjson.JSONDecodeError:
                damaged += 1
                continue
            if isinstance(event, dict):
                trace.last_line = line
                _take(trace, event)
    if trace.rank == NOT_KNOWN:
        raise UnreadableEvidence("profiler events without a collective: whose they are is not told")
    note = f"{evidence.name}: {damaged} lines are no events and were passed over"
    return CounterSheet((_row(trace, evidence.name),), (note,) if damaged else ())


def _take(trace: _Trace, event: JsonObject) -> None:
    category, opens, args = text(event, "cat"), event.get("ph") == "b", inner(event, "args")
    if category == "COLL":
        _take_collective(trace, event, args, opens=opens)
    elif category == "PROXY" and opens:
        trace.peer = whole(args, "Peer")
    elif category == "NET_IB":
        _take_request(trace, event, args, opens=opens)


def _take_collective(trace: _Trace, event: JsonObject, args: JsonObject, *, opens: bool) -> None:
    identity = whole(event, "id")
    if not opens:
        name, sequence = trace.in_flight.pop(identity, ("", NOT_KNOWN))
        if name:
            trace.completed[name] = max(sequence, trace.completed.get(name, 0))
        return
    name, sequence = text(event, "name"), whole(args, "SeqNum")
    trace.in_flight[identity] = (name, sequence)
    trace.operation = name
    trace.launched[name] = max(sequence, trace.launched.get(name, 0))
    trace.rank = whole(args, "Rank", trace.rank)
    communicator = args.get("CommHash", trace.communicator)
    trace.communicator = (
        f"{communicator:#x}" if isinstance(communicator, int) else str(communicator)[:64]
    )


def _take_request(trace: _Trace, event: JsonObject, args: JsonObject, *, opens: bool) -> None:
    key = (whole(event, "id"), whole(args, "qp_num"), whole(args, "wr_id"))
    if opens:
        posted = number(event, "ts")
        trace.wr += 1
        trace.outstanding[key] = Outstanding(
            peer=trace.peer,
            posted=None if posted is None else posted / 1e6,
            device=str(args.get("device", ""))[:32],
        )
    elif trace.outstanding.pop(key, None) or _by_event(trace, key[0]):
        trace.wc += 1


def _by_event(trace: _Trace, identity: int) -> bool:
    """An end that repeats no arguments: the begin with the same event id."""
    key = next((key for key in trace.outstanding if key[0] == identity), None)
    return key is not None and trace.outstanding.pop(key) is not None


def _row(trace: _Trace, name: str) -> CounterRow:
    told = trace.wr > 0
    oldest = min(
        trace.outstanding.values(),
        key=lambda item: float("inf") if item.posted is None else item.posted,
        default=None,
    )
    return CounterRow(
        communicator=trace.communicator,
        rank=trace.rank,
        source=SOURCE,
        evidence=name,
        line=trace.last_line,
        launched=sum(trace.launched.values()),
        completed=sum(trace.completed.values()),
        wr=trace.wr if told else NOT_KNOWN,
        wc=trace.wc if told else NOT_KNOWN,
        operation=trace.operation,
        oldest=oldest,
    )
