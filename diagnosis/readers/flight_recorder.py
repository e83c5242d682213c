"""Reader of PyTorch Flight Recorder dumps, pickle or JSON (torch's c10d/FlightRecorder).

The bytes are opened in a child process only (`child_process`, `flight_recorder_child`); what comes
back are plain columns.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import repeat
from typing import Any

import numpy as np

from diagnosis.core.collectives import (
    Bools,
    Counters,
    Entries,
    Group,
    Ints,
    RankDump,
    Signature,
    SourceFrame,
)
from diagnosis.core.counters import NOT_TOLD, CounterRow, Outstanding
from diagnosis.core.diagnosis import Skipped
from diagnosis.core.evidence import Evidence
from diagnosis.readers.child_process import Answer, ChildLimits, ChildReader
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.flight_recorder_plain import COLUMNS
from diagnosis.readers.origin import origin_of

COMM_STATE = "communicator state in the dump"
_CHILD = "diagnosis.readers.flight_recorder_child"
#: Starting a child takes as long as reading a few dumps: fewer than these start no further one.
DUMPS_PER_READER = 8
#: What the dumps of a job have in common is made once: large groups' ranks and lines of code.
_GROUPS_KNOWN, _LINES_KNOWN = 1024, 8192
_NO_RANK = (
    "no rank: neither the dump nor its name tells which rank wrote it; name the file "
    "…rank_<rank> or give the rank with the upload"
)


def read_dumps(
    evidence: Sequence[Evidence], *, limits: ChildLimits | None = None
) -> tuple[list[RankDump], list[Skipped]]:
    """All dumps that can be read, and why the others cannot; never raises for bad content.

    Child processes read them side by side, one a core; when one dies on a dump, that dump is
    skipped and a new child goes on with the next.
    """
    readers = max(1, min(len(os.sched_getaffinity(0)), len(evidence) // DUMPS_PER_READER))
    shares = [evidence[start::readers] for start in range(readers)]
    with ThreadPoolExecutor(readers) as pool:
        read = pool.map(_read_share, shares, repeat(limits or ChildLimits()))
    found = [dump_or_reason for share in read for dump_or_reason in share]
    dumps = [item for item in found if isinstance(item, RankDump)]
    skipped = [item for item in found if isinstance(item, Skipped)]
    return sorted(dumps, key=lambda dump: dump.source), skipped


def _read_share(evidence: Sequence[Evidence], limits: ChildLimits) -> list[RankDump | Skipped]:
    """One reader's part of the evidence, through a child process of its own."""
    found: list[RankDump | Skipped] = []
    with ChildReader(_CHILD, limits) as child:
        for item in evidence:
            try:
                found.append(_dump(item, child.read(item)))
            except UnreadableEvidence as error:
                found.append(Skipped(item.name, str(error)))
            except (OSError, EOFError, ValueError) as error:
                found.append(Skipped(item.name, f"cannot be opened: {error}"))
    return found


def _dump(item: Evidence, answer: Answer) -> RankDump:
    head: dict[str, Any] = answer.header
    origin = origin_of(item)
    rank = origin.rank if head["rank"] is None else int(head["rank"])
    if rank is None or rank < 0:
        raise UnreadableEvidence(_NO_RANK)
    return RankDump(
        rank=rank,
        source=item.name,
        version=_version(head["version"]),
        entries=_entries(head, answer.columns),
        host=head["host"] or origin.host,
        library=head["library"],
        groups={name: Group(name, desc, _ranks(ranks)) for name, desc, ranks in head["groups"]},
        status={pg_id: Counters(*counters) for pg_id, *counters in head["status"]},
        counters=tuple(_counter_row(item, rank, state) for state in head["comm_state"]),
    )


def _counter_row(item: Evidence, rank: int, state: dict[str, Any]) -> CounterRow:
    """What the library's own state says of this rank in one communicator."""
    oldest = state.pop("oldest")
    peer, posted = oldest or (NOT_TOLD, None)
    return CounterRow(
        source=COMM_STATE,
        evidence=item.name,
        line=0,
        rank=int(state.pop("rank")),
        global_rank=rank,
        oldest=Outstanding(peer, posted) if oldest else None,
        **state,
    )


def _entries(head: dict[str, Any], columns: bytes) -> Entries:
    rows = int(head["rows"])
    block = np.frombuffer(columns, np.int64).reshape(len(COLUMNS), rows)
    if (block[0][1:] < block[0][:-1]).any():
        block = block[:, np.argsort(block[0], kind="stable")]
    by_name: dict[str, Ints] = dict(zip(COLUMNS, block, strict=True))
    retired: Bools = by_name.pop("retired").astype(np.bool_)
    is_p2p: Bools = by_name.pop("is_p2p").astype(np.bool_)
    return Entries(
        **by_name,
        retired=retired,
        is_p2p=is_p2p,
        groups=tuple((name, desc) for name, desc in head["group_names"]),
        calls=tuple(_signature(call) for call in head["calls"]),
        backends=tuple(head["backends"]),
        stacks=tuple(tuple(_frame(*frame) for frame in stack) for stack in head["stacks"]),
    )


@lru_cache(_LINES_KNOWN)
def _frame(function: str, file: str, line: int) -> SourceFrame:
    return SourceFrame(function, file, line)


@lru_cache(_GROUPS_KNOWN)
def _ranks(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


def _signature(call: Sequence[Any]) -> Signature:
    op, inputs, outputs, input_dtypes, output_dtypes = call
    return Signature(
        op=op,
        input_sizes=tuple(tuple(shape) for shape in inputs),
        output_sizes=tuple(tuple(shape) for shape in outputs),
        input_dtypes=tuple(input_dtypes),
        output_dtypes=tuple(output_dtypes),
    )


def _version(text: str) -> tuple[int, int]:
    """ "2.10" as (2, 10), so that versions compare as numbers; (0, 0) where it is no version."""
    major, _, minor = text.partition(".")
    if major.isdecimal() and minor.isdecimal():
        return int(major), int(minor)
    return 0, 0
