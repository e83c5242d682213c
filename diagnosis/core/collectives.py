"""Collective progress: what each rank of each communicator launched, completed and waits in.

Every source ends here, whether it holds single operations (Flight Recorder dumps) or counters only
(NCCL RAS, Inspector, watchdog lines, live progress reports): a `Communicator` is a few arrays over
its ranks, so that 16,384 ranks stay cheap, and single operations are kept only where a rank waits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diagnosis.core.counters import CounterRow

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

#: "None" or "not known" in every counter array, as c10d itself writes it.
NOT_KNOWN = -1


class OpState(IntEnum):
    """The recorder's `state`. Without timing an unfinished operation is always SCHEDULED."""

    SCHEDULED = 0
    STARTED = 1
    COMPLETED = 2


@dataclass(frozen=True, slots=True)
class Signature:
    """What has to agree between the ranks that take part in one call.

    `op` is the operation without its backend and peers; sizes are one tuple of dimensions a tensor.
    """

    op: str
    input_sizes: tuple[tuple[int, ...], ...] = ()
    output_sizes: tuple[tuple[int, ...], ...] = ()
    input_dtypes: tuple[str, ...] = ()
    output_dtypes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFrame:
    """One frame of the stack that launched an operation, innermost first in its tuple."""

    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Group:
    """A process group as one rank describes it; `ranks` is empty where the dump does not say."""

    name: str
    desc: str
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Counters:
    """The last collective that a rank enqueued, started and completed in one group; -1 for none."""

    enqueued: int = NOT_KNOWN
    started: int = NOT_KNOWN
    completed: int = NOT_KNOWN


@dataclass(frozen=True)
class Entries:
    """The operations in one rank's ring, oldest first, as columns of equal length.

    `group`, `call`, `backend` and `stack` index the tables `groups`, `calls`, `backends` and
    `stacks`. Times are wall-clock nanoseconds and 0 where not known, `duration_us` is -1 where not
    known, and `peer` is the other end's rank *within the group*, -1 for collectives.
    """

    record_id: Ints
    group: Ints
    pg_id: Ints
    seq: Ints
    p2p_seq: Ints
    call: Ints
    backend: Ints
    state: Ints
    retired: Bools
    is_p2p: Bools
    peer: Ints
    created_ns: Ints
    started_ns: Ints
    completed_ns: Ints
    duration_us: Ints
    timeout_ms: Ints
    stack: Ints
    groups: tuple[tuple[str, str], ...] = ()
    calls: tuple[Signature, ...] = ()
    backends: tuple[str, ...] = ()
    stacks: tuple[tuple[SourceFrame, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.record_id)


@dataclass(frozen=True)
class RankDump:
    """One rank's Flight Recorder dump.

    `status` is keyed by `pg_id`, a counter of the process that means another group on another
    rank; only an entry, or the order of creation, joins it to a group's name. `counters` are what
    libraries that keep a state of their own (NCCLX, RCCL) added of their proxies' work requests.
    """

    rank: int
    source: str
    version: tuple[int, int]
    entries: Entries
    host: str | None = None
    library: str = ""
    groups: Mapping[str, Group] = field(default_factory=dict)
    status: Mapping[int, Counters] = field(default_factory=dict)
    counters: tuple[CounterRow, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenOperation:
    """The oldest operation that a rank has not finished: where it waits.

    `peers` are the global ranks that a send or receive names, empty for a collective. `failed`
    means that the watchdog gave the operation up (retired and not completed). `timed` says that
    its rank's recorder tells when operations start: one that is SCHEDULED there has not.
    """

    rank: int
    communicator: int
    seq: int
    call: Signature
    record_id: int
    source: str
    state: OpState = OpState.SCHEDULED
    created_ns: int = 0
    timeout_ms: int = 0
    peers: tuple[int, ...] = ()
    sends: bool = False
    failed: bool = False
    timed: bool = False
    frames: tuple[SourceFrame, ...] = ()

    @property
    def is_idle(self) -> bool:
        """Launched by its host, and its GPU has not come to it."""
        return self.timed and self.state is OpState.SCHEDULED


@dataclass(frozen=True)
class Communicator:
    """One communicator: counter arrays in the order of `ranks`, -1 for none or not known.

    `reported` is False for members that no source speaks for. `wr`/`wc` are work requests posted
    and completed, only from sources that truly count them, never from collectives. `stale` marks
    members whose counters were taken earlier than their peers'.
    """

    name: str
    desc: str
    ranks: Ints
    enqueued: Ints
    started: Ints
    completed: Ints
    reported: Bools
    wr: Ints | None = None
    wc: Ints | None = None
    stale: Bools | None = None
    has_p2p: bool = False

    @cached_property
    def label(self) -> str:
        """The name a person knows it by: its description where it has one of its own."""
        if self.desc and self.desc not in {"undefined", "default_pg"}:
            return f"{self.desc} (group {self.name})" if self.name else self.desc
        return f"group {self.name}" if self.name else "the default group"

    @cached_property
    def index_of_rank(self) -> Mapping[int, int]:
        return {int(rank): index for index, rank in enumerate(self.ranks)}


@dataclass(frozen=True)
class CollectiveProgress:
    """All communicators of one attempt at one moment, and where each rank waits.

    `waiting` holds the oldest open operation per rank (by the recorder's own order, over all its
    communicators); `open_in` the oldest open one per (communicator, rank). `reported` are the
    ranks that any source speaks for and `world` all that are known of. `late_ms` is by how much
    each rank keeps its peers waiting at a collective, where a straggler was found.
    """

    communicators: tuple[Communicator, ...]
    waiting: Mapping[int, OpenOperation] = field(default_factory=dict)
    open_in: Mapping[tuple[int, int], OpenOperation] = field(default_factory=dict)
    world: tuple[int, ...] = ()
    reported: frozenset[int] = frozenset()
    hosts: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    late_ms: Mapping[int, float] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[int, ...]:
        """Ranks of the world that no source speaks for."""
        return tuple(rank for rank in self.world if rank not in self.reported)


@dataclass(frozen=True, slots=True)
class WaitEdge:
    """`waiters` wait in operation `seq` of a communicator for `blockers` (global ranks)."""

    communicator: int
    seq: int
    waiters: tuple[int, ...]
    blockers: tuple[int, ...]
    p2p: bool = False


def empty_entries() -> Entries:
    """A ring with nothing in it."""
    none = np.zeros(0, np.int64)
    no = np.zeros(0, np.bool_)
    return Entries(
        none, none, none, none, none, none, none, none, no, no, none, none, none, none, none, none,
        none,
    )  # fmt: skip


def counters_only(
    name: str,
    desc: str,
    ranks: Sequence[int] | Ints,
    *,
    enqueued: Sequence[int] | Ints,
    completed: Sequence[int] | Ints | None = None,
    started: Sequence[int] | Ints | None = None,
) -> Communicator:
    """A communicator from plain counters, one value a rank; what is not given is not known."""
    size = len(ranks)
    unknown = np.full(size, NOT_KNOWN, np.int64)
    return Communicator(
        name=name,
        desc=desc,
        ranks=np.asarray(ranks, np.int64),
        enqueued=np.asarray(enqueued, np.int64),
        started=unknown if started is None else np.asarray(started, np.int64),
        completed=unknown if completed is None else np.asarray(completed, np.int64),
        reported=np.ones(size, np.bool_),
    )
