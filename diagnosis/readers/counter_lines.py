"""Collective counters as JSON lines: the project's own form (docs/contract.md, "Input files")."""

from datetime import UTC, datetime

from diagnosis.core.collectives import NOT_KNOWN
from diagnosis.core.counters import CounterRow, CounterSheet, Outstanding, Timing
from diagnosis.core.evidence import Evidence
from diagnosis.readers.json_lines import JsonLines, JsonObject, inner, number, text, whole

SOURCE = "collective counters"


def read_counter_lines(evidence: Evidence) -> CounterSheet:
    """Every line that names a communicator and a rank. Raises `OSError` where it cannot be opened.

    `cl` is CL; `wr` and `wc` stay unknown unless the line itself tells them. Lines that are no
    record are counted in a note.
    """
    rows = []
    with evidence.open() as stream:
        lines = JsonLines(stream)
        for line, found in lines:
            row = _row(evidence.name, line, found)
            if row is None:
                lines.damaged += 1
            else:
                rows.append(row)
    note = f"{evidence.name}: {lines.damaged} lines are no counters and were passed over"
    return CounterSheet(tuple(rows), (note,) if lines.damaged else ())


def _row(name: str, line: int, found: JsonObject) -> CounterRow | None:
    comm, rank = found.get("comm"), whole(found, "rank")
    if not isinstance(comm, str | int) or rank < 0:
        return None
    operation = inner(found, "op")
    return CounterRow(
        communicator=str(comm)[:256],
        rank=rank,
        global_rank=rank,
        source=SOURCE,
        evidence=name,
        line=line,
        size=whole(found, "size"),
        time=_time(found, "time"),
        launched=whole(found, "cl"),
        wr=whole(found, "wr"),
        wc=whole(found, "wc"),
        operation=text(operation, "name"),
        oldest=_outstanding(found),
        timings=_timings(found, operation),
    )


def _timings(found: JsonObject, operation: JsonObject) -> tuple[Timing, ...]:
    inside, which = number(found, "td_us"), whole(operation, "seq", whole(found, "cl"))
    if inside is None or inside <= 0:
        return ()
    return (Timing(text(operation, "name"), which, inside, number(found, "bytes_per_us")),)


def _outstanding(found: JsonObject) -> Outstanding | None:
    oldest = inner(found, "oldest_outstanding")
    if not oldest:
        return None
    return Outstanding(peer=whole(oldest, "peer", NOT_KNOWN), posted=_time(oldest, "posted"))


def _time(found: JsonObject, name: str) -> float | None:
    """Seconds since the epoch, from a number or from ISO 8601 text (UTC where it has no zone)."""
    value = found.get(name)
    if not isinstance(value, str):
        return number(found, name)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
