import io
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from benchmarks.recorded import Recorder
from diagnosis.core.collectives import Entries, RankDump
from diagnosis.core.evidence import Evidence
from diagnosis.readers.flight_recorder import read_dumps
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenarios import simulate
from diagnosis.simulator.writers.flight_recorder import dump_bytes

_TABLES = {"group": "groups", "call": "calls", "backend": "backends", "stack": "stacks"}


def read(run: Run) -> list[RankDump]:
    """The same dumps as files, through the reader."""
    pieces = []
    for rank, ending in enumerate(run.endings):
        if ending.dump_at is not None:
            content = dump_bytes(run, rank)
            name = f"comm_lib_trace_rank_{rank}"
            pieces.append(Evidence(name, lambda content=content: io.BytesIO(content), len(content)))  # type: ignore[misc]
    return read_dumps(pieces)[0]


def told(entries: Entries) -> dict[str, list[Any]]:
    """The columns, with what the numbers of tables stand for."""
    columns: dict[str, list[Any]] = {}
    for field in fields(entries):
        values = getattr(entries, field.name)
        if isinstance(values, np.ndarray):
            table = getattr(entries, _TABLES[field.name]) if field.name in _TABLES else None
            columns[field.name] = [table[v] if table else v for v in values.tolist()]
    return columns


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("hang_compute", {"missing_dumps": 0.2}),
        ("process_killed", {"fr_version": "2.4"}),
        ("call_mismatch", {"stacks": False}),
        ("order_deadlock", {}),
        ("healthy_midrun", {"clock_skew_s": 0.1}),
        ("slow_rank", {"timing": True}),
        ("hang_compute", {"timing": True}),
    ],
)
def test_recording_in_memory_gives_what_reading_the_dumps_gives(kind: str, options: dict[str, Any]):
    run = simulate(kind, seed=7, hosts=2, **options).run
    ours, theirs = Recorder(run).dumps(), read(run)
    assert [dump.source for dump in ours] == [dump.source for dump in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert told(mine.entries) == told(other.entries)
        for name in ("rank", "version", "host", "library", "groups", "status"):
            assert getattr(mine, name) == getattr(other, name), name


def test_what_reading_would_change_is_not_recorded():
    run = simulate("hang_compute", seed=7, hosts=1, only_active=True).run
    with pytest.raises(ValueError, match="whole dumps"):
        Recorder(run)
