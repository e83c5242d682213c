"""NCCL RAS answers in JSON (NCCL 2.28.7 on, src/ras/client_support.cc, `rasDumpCommsToJSON`)."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import orjson

from diagnosis.core.ras import (
    UNKNOWN,
    LostRank,
    RasCommunicator,
    RasMember,
    RasProcess,
    RasStatus,
)
from diagnosis.readers.errors import UnreadableEvidence

_Object: TypeAlias = Mapping[str, object]


def read_ras_json(content: bytes) -> RasStatus:
    """The status in one JSON answer. Raises `UnreadableEvidence` naming what is wrong.

    Types of operations are taken as found: their list grows from version to version.
    """
    try:
        answer = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise UnreadableEvidence(f"RAS answer is not whole JSON: {error}") from error
    if not isinstance(answer, Mapping) or "communicators" not in answer:
        raise UnreadableEvidence("RAS answer has no 'communicators'")
    communicators = tuple(map(_communicator, _objects(answer, "communicators")))
    ras = _object(answer.get("ras", {}), "ras")
    timeouts = _whole(ras, "timeouts_count", 0)
    return RasStatus(
        communicators=communicators,
        nccl_version=str(answer.get("nccl_version", "")),
        taken_at=str(answer.get("timestamp", "")),
        timeouts=timeouts,
        notes=tuple(_notes(communicators, timeouts)),
    )


def _communicator(given: _Object) -> RasCommunicator:
    ranks = tuple(map(_rank, _objects(given, "ranks")))
    lost = tuple(map(_lost, _objects(given, "missing_ranks")))
    return RasCommunicator(
        name=str(given.get("hash", "")),
        size=_whole(given, "size", len(ranks) + len(lost)),
        ranks=ranks,
        lost=lost,
    )


def _rank(given: _Object) -> RasMember:
    status = _object(given.get("status", {}), "status")
    counts = _object(given.get("collective_counts", {}), "collective_counts")
    return RasMember(
        rank=_whole(given, "rank"),
        process=_process(given),
        launched={operation: _whole(counts, operation) for operation in counts},
        init_state=_whole(status, "init_state", 0),
        async_error=_whole(status, "async_error", 0),
        finalizing=status.get("finalize_called") is True,
        destroyed=status.get("destroy_flag") is True,
        aborted=status.get("abort_flag") is True,
    )


def _lost(given: _Object) -> LostRank:
    status = _object(given.get("status", {}), "status")
    return LostRank(
        rank=_whole(given, "rank"),
        process=_process(given),
        unresponsive=status.get("unresponsive") is True,
        dead=status.get("considered_dead") is True,
    )


def _process(given: _Object) -> RasProcess:
    return RasProcess(
        host=str(given.get("host", "unknown")),
        pid=_whole(given, "pid", UNKNOWN),
        cuda_device=_whole(given, "cuda_dev", UNKNOWN),
        nvml_device=_whole(given, "nvml_dev", UNKNOWN),
    )


def _notes(communicators: Sequence[RasCommunicator], timeouts: int) -> list[str]:
    told = sum(len(comm.ranks) for comm in communicators)
    lost = sum(len(comm.lost) for comm in communicators)
    untold = sum(comm.size for comm in communicators) - told - lost
    notes = []
    if timeouts:
        notes.append(f"RAS gave up waiting for {timeouts} parts of the job")
    if lost:
        notes.append(f"{lost} of {told + lost} memberships did not answer")
    if untold > 0:
        notes.append(f"RAS says nothing of {untold} memberships")
    return notes


def _objects(given: _Object, name: str) -> list[_Object]:
    rows = given.get(name, [])
    if not isinstance(rows, list):
        raise UnreadableEvidence(f"RAS answer: '{name}' is no list")
    return [_object(row, name) for row in rows]


def _object(value: object, name: str) -> _Object:
    if not isinstance(value, Mapping):
        raise UnreadableEvidence(f"RAS answer: '{name}' holds what is no object")
    return value


def _whole(given: _Object, name: str, default: int | None = None) -> int:
    value = given.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnreadableEvidence(f"RAS answer: '{name}' is no whole number")
    return value
