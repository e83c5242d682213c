"""What PyTorch's process-group watchdog says in logs, over the eras of its wording.

≤ 2.2 `Watchdog caught collective operation timeout: WorkNCCL(SeqNum=…)`; 2.3 `Timeout at NCCL
work: s`; 2.4-2.6 `Exception (…) detected by watchdog at work: s`; 2.7+ `failure detected by
watchdog at work sequence id: s PG status: last enqueued work: e, last completed work: c`.
"""

import re
from dataclasses import dataclass

#: Larger values are the garbage that an uninitialised counter leaves.
LARGEST_COUNT = 1 << 31

_WORK = re.compile(
    r"WorkNCCL\(SeqNum=(?P<seq>\d+),\s*OpType=(?P<op>\w+)"
    r"(?:,\s*NumelIn=(?P<numel_in>\d+),\s*NumelOut=(?P<numel_out>\d+))?"
    r",\s*Timeout\(ms\)=(?P<timeout>\d+)\)(?:\s+ran\s+for\s+(?P<ran>\d+))?"
)
_AT = re.compile(
    r"(?:watchdog\s+at\s+work(?:\s+sequence\s+id)?|Timeout\s+at\s+NCCL\s+work):\s*(?P<seq>\d+)"
)
_LAST = re.compile(
    r"[Ll]ast\s+enqueued\s+(?:NCCL\s+)?work:\s*(?P<enqueued>-?\d+),"
    r"\s*last\s+completed\s+(?:NCCL\s+)?work:\s*(?P<completed>-?\d+)"
)
_GROUP = re.compile(
    r"\[PG\s+(?:ID\s+(?P<id>\d+)\s+PG\s+GUID\s+)?(?P<guid>\w+)\s*(?:\((?P<desc>[^)]*)\))?\s+Rank\s+\d+\]"
)
_RELAYED = re.compile(
    r"Observed flight recorder dump signal from another rank|dump signal.*from\s+rank\s+\d+"
)
_LOCAL_SIGNAL = re.compile(r"dump signal.*from this local rank")


@dataclass(frozen=True, slots=True)
class WatchdogReport:
    """One statement of a rank's watchdog; None where the line does not say it.

    `sequence` and `operation` are those of the work that timed out; `timed_out` says that this
    rank itself waited too long, `relayed` that it only passes on what another rank signalled.
    """

    sequence: int | None = None
    operation: str | None = None
    numel_in: int | None = None
    numel_out: int | None = None
    timeout_ms: int | None = None
    ran_ms: int | None = None
    enqueued: int | None = None
    completed: int | None = None
    group: str | None = None
    timed_out: bool = False
    relayed: bool = False


def watchdog_report(text: str) -> WatchdogReport | None:
    """What `text`, one record, says for the watchdog; None where it says nothing of the kind."""
    work, last = _WORK.search(text), _LAST.search(text)
    at, group = _AT.search(text), _GROUP.search(text)
    relayed = _RELAYED.search(text) is not None
    local = _LOCAL_SIGNAL.search(text) is not None
    if not (work or last or at or relayed or local):
        return None
    sequence = work["seq"] if work else at["seq"] if at else None
    return WatchdogReport(
        sequence=_count(sequence),
        operation=work["op"] if work else None,
        numel_in=_count(work["numel_in"]) if work else None,
        numel_out=_count(work["numel_out"]) if work else None,
        timeout_ms=_count(work["timeout"]) if work else None,
        ran_ms=_count(work["ran"]) if work else None,
        enqueued=_count(last["enqueued"]) if last else None,
        completed=_count(last["completed"]) if last else None,
        group=_group_name(group),
        timed_out=bool(work or at or local),
        relayed=relayed and not (work or at),
    )


def _count(text: str | None) -> int | None:
    if text is None:
        return None
    value = int(text)
    return value if value < LARGEST_COUNT else None


def _group_name(found: re.Match[str] | None) -> str | None:
    """A name that all members of the group share: "default" or its GUID."""
    if found is None:
        return None
    guid, desc = found["guid"], found["desc"] or ""
    if "default" in desc or (guid == "0" and not desc):
        return "default"
    return f"{guid}({desc})" if desc else guid
