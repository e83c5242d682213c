"""NCCL Inspector's JSON lines (profiler plugin of NCCL 2.28 on): one object per *completed* call.

Operations in flight never appear, small and untimed ones are dropped, and its ring overwrites
silently, so a gap in `coll_sn` is loss and no evidence. `coll_sn` counts per type of operation
within the communicator: the sum of the last ones stands for what a rank has completed.
"""

from collections import deque
from dataclasses import dataclass, field, replace

from diagnosis.core.counters import CounterRow, CounterSheet, Timing
from diagnosis.core.evidence import Evidence
from diagnosis.readers.json_lines import JsonLines, JsonObject, inner, number, text, whole

SOURCE = "NCCL Inspector"
#: Timed calls that are kept of a rank in a communicator: peers' files end a few calls apart.
KEPT_TIMINGS = 16
#: Counts of completed calls only ever lag; by itself a lower one proves nothing.
COMPLETED_ONLY = "NCCL Inspector tells completed calls only, without small ones: no launches"


@dataclass
class _Rank:
    """The latest of one rank in one communicator."""

    row: CounterRow
    last: dict[str, int] = field(default_factory=dict)
    timings: deque[Timing] = field(default_factory=lambda: deque(maxlen=KEPT_TIMINGS))


def read_inspector(evidence: Evidence) -> CounterSheet:
    """One row per communicator and rank. Raises `OSError` where it cannot be opened."""
    found: dict[tuple[str, int], _Rank] = {}
    with evidence.open() as stream:
        lines = JsonLines(stream)
        for line, record in lines:
            _take(found, evidence.name, line, record)
    rows = tuple(_finished(item) for item in found.values())
    notes = [COMPLETED_ONLY] if rows else []
    if lines.damaged:
        notes.append(f"{evidence.name}: {lines.damaged} lines are no JSON and were passed over")
    return CounterSheet(rows, tuple(notes))


def _take(found: dict[tuple[str, int], _Rank], name: str, line: int, record: JsonObject) -> None:
    header, metadata, call = (inner(record, key) for key in ("header", "metadata", "coll_perf"))
    communicator, rank = text(header, "id"), whole(header, "rank")
    operation, sequence = text(call, "coll"), whole(call, "coll_sn")
    if not communicator or rank < 0 or not operation or sequence < 0:
        return
    stamp, taken = number(metadata, "dump_timestamp_us"), number(call, "coll_exec_time_us")
    size = number(call, "coll_msg_size_bytes")
    row = CounterRow(
        communicator=communicator,
        rank=rank,
        source=SOURCE,
        evidence=name,
        line=line,
        size=whole(header, "n_ranks"),
        host=text(metadata, "hostname") or None,
        process=whole(metadata, "pid"),
        time=stamp / 1e6 if stamp else None,
        operation=operation,
    )
    known = found.setdefault((communicator, rank), _Rank(row))
    known.row = row
    known.last[operation] = max(sequence, known.last.get(operation, 0))
    if taken is not None and taken > 0:
        throughput = size / taken if size else None
        known.timings.append(Timing(operation, sequence, taken, throughput))


def _finished(item: _Rank) -> CounterRow:
    completed = sum(item.last.values())
    return replace(item.row, completed=completed, timings=tuple(item.timings))
