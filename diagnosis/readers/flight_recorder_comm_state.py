"""`nccl_comm_state` of NCCLX and ROCm builds: what their proxies count of work requests.

Runs in the child process (standard library only). The state maps a communicator's hash to texts
that hold JSON: collectives under `CT_…`, active proxy operations under `PT_activeOps`, whose
`POSTED` step counts requests that were posted and whose last finished step those that completed.
"""

import json
from typing import Any

STATES = ("nccl_comm_state", "comm_state", "hccl_comm_state", "mccl_comm_state", "bccl_comm_state")
COMMUNICATORS_MAX = 4096
TEXT_MAX = 4 * 1024 * 1024
OPERATIONS_MAX = 65_536


def comm_state(dump: dict[Any, Any]) -> list[dict[str, Any]]:
    """One row a communicator: its hash, this rank in it, CL, WR, WC and the oldest request."""
    found = [dump[key] for key in STATES if isinstance(dump.get(key), dict)]
    state: dict[Any, Any] = found[0] if found else {}
    rows = []
    for name, values in list(state.items())[:COMMUNICATORS_MAX]:
        told = values if isinstance(values, dict) else parsed(values)
        if isinstance(told, dict) and (row := one_communicator(str(name)[:64], told)):
            rows.append(row)
    return rows


def one_communicator(name: str, told: dict[Any, Any]) -> dict[str, Any] | None:
    rank = whole(parsed(told.get("rank")), -1)
    if rank < 0:
        return None
    active = parsed(told.get("PT_activeOps"))
    operations = [op for op in active if isinstance(op, dict)] if isinstance(active, list) else []
    counts = [requests(op) for op in operations[:OPERATIONS_MAX]]
    stuck = [
        (age(op), whole(op.get("remoteRank"), -1))
        for op, (posted, done) in zip(operations, counts, strict=False)
        if posted > done
    ]
    oldest = min(stuck, default=None)
    has_proxies = isinstance(active, list)
    return {
        "communicator": name,
        "rank": rank,
        "size": whole(parsed(told.get("nRanks")), -1),
        "launched": launched(told),
        "wr": sum(posted for posted, _ in counts) if has_proxies else -1,
        "wc": sum(done for _, done in counts) if has_proxies else -1,
        "oldest": None if oldest is None else [oldest[1], oldest[0] or None],
    }


def requests(operation: dict[Any, Any]) -> tuple[int, int]:
    """(posted, completed) steps of one proxy operation."""
    ends = ("DONE", "TRANSMITTED" if operation.get("opType") == "SEND" else "RECEIVED")
    posted = step(operation, "POSTED")
    done = max(step(operation, name) for name in ends)
    return (posted, done) if 0 <= done <= posted else (0, 0)


def step(operation: dict[Any, Any], name: str) -> int:
    value = operation.get(name)
    found = whole(value.get("step"), 0) if isinstance(value, dict) else whole(value, 0)
    return max(0, found)


def age(operation: dict[Any, Any]) -> float:
    """When it started, in seconds since the epoch (the state holds microseconds)."""
    value = parsed(operation.get("startTs"))
    return value / 1e6 if isinstance(value, int | float) and 0 < value < 1e18 else 0.0


def launched(told: dict[Any, Any]) -> int:
    """The highest `opCount` among past, current and pending collectives; -1 where none is told."""
    highest = -1
    for key in ("CT_pastColls", "CT_currentColls", "CT_currentColl", "CT_pendingColls"):
        found = parsed(told.get(key))
        for record in found if isinstance(found, list) else [found]:
            if isinstance(record, dict):
                highest = max(highest, whole(parsed(record.get("opCount")), -1))
    return highest


def parsed(value: Any) -> Any:
    """The value inside a text of JSON; the value itself where it is no text."""
    if not isinstance(value, str) or len(value) > TEXT_MAX:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def whole(value: Any, otherwise: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 1 << 62:
        return otherwise
    return value
