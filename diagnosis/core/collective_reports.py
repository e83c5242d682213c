"""What logs state about collectives: watchdogs' counters, RAS answers, desync and trace reports.

Plain statements with the way back to their line; `diagnosis.collectives.reports` weighs them.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one piece of evidence, from 1, with its text."""

    evidence: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class WorkReport:
    """One rank's watchdog: the work that timed out there, and its last enqueued and completed.

    `rank` is the global rank; None for numbers that the line does not tell or that are garbage.
    """

    rank: int
    group: str
    sequence: int | None
    operation: str
    enqueued: int | None
    completed: int | None
    timed_out: bool
    line: Line


@dataclass(frozen=True, slots=True)
class RasRank:
    """A communicator's rank as RAS names it: with its process, node and GPU where listed."""

    rank: int
    node: str | None = None
    gpu: str | None = None


@dataclass(frozen=True, slots=True)
class RasCount:
    """`number` ranks launched up to operation `launched`; `ranks` are those that RAS lists."""

    launched: int
    number: int
    ranks: tuple[RasRank, ...] = ()


@dataclass(frozen=True, slots=True)
class RasMismatch:
    """Ranks of one communicator that launched different numbers of one operation type.

    `whole_job` says that the communicator spans all GPUs of the job, so that its ranks are global.
    Launches only: no completion, no sends, none from CUDA graphs; and one sample proves nothing.
    """

    communicator: str
    operation: str
    counts: tuple[RasCount, ...]
    whole_job: bool
    line: Line


@dataclass(frozen=True, slots=True)
class LostProcess:
    """A process that RAS could not reach; `dead` when it says so itself."""

    node: str
    gpu: str
    dead: bool
    line: Line


@dataclass(frozen=True, slots=True)
class RankStatement:
    """What another program says of single ranks.

    `source`: `desync` (c10d's report: did not join), `desync-unfinished` (joined, not finished),
    `torchfrtrace` (missing), `torchfrtrace-mismatch` (its culprit, which depends on the order of
    its files), `stack` (a stack inside NCCL's launch that has not returned). `members` are all
    ranks that the statement speaks of, empty where it does not say.
    """

    source: str
    ranks: tuple[int, ...]
    members: tuple[int, ...]
    line: Line


@dataclass(frozen=True)
class CollectiveReports:
    """All statements of a job's logs, in the order of the files' names and lines."""

    work: tuple[WorkReport, ...] = ()
    mismatches: tuple[RasMismatch, ...] = ()
    lost: tuple[LostProcess, ...] = ()
    statements: tuple[RankStatement, ...] = ()
    sources: tuple[str, ...] = field(default=())

    def __bool__(self) -> bool:
        return bool(self.work or self.mismatches or self.lost or self.statements)
