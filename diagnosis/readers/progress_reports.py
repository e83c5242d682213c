"""Progress reports as decoded JSON → one batch of arrays, every bad value named by its place."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

from diagnosis.core.collectives import NOT_KNOWN
from diagnosis.core.live_progress import PHASES, CommCounters, Phase, ProgressBatch
from diagnosis.readers.errors import UnreadableEvidence

#: More ranks, or memberships of ranks in communicators, than any job has.
MOST_RANKS, MOST_MEMBERSHIPS = 200_000, 4_000_000
#: Bad values that are named one by one.
MOST_ERRORS = 100
_LARGEST = 2**62
_LARGEST_RANK = 2**31 - 1
_LONGEST_NAME = 200
_REPORT = {"rank", "step", "phase", "comms"}
_COMM = {"comm", "enqueued", "started", "completed"}

Place = tuple[str | int, ...]


class BadReports(UnreadableEvidence):
    """Reports that cannot be taken: (place in the body, what is wrong with it), at least one."""

    def __init__(self, errors: list[tuple[Place, str]]) -> None:
        super().__init__("; ".join(f"{'/'.join(map(str, at))}: {text}" for at, text in errors[:3]))
        self.errors = errors


def read_reports(body: object) -> ProgressBatch:
    """The contract's `{"time", "reports": [...]}`. Raises `BadReports`, and takes nothing then."""
    return _Reading().read(body)


class _Reading:
    """Columns under way."""

    def __init__(self) -> None:
        self.errors: list[tuple[Place, str]] = []
        self.ranks: dict[int, int] = {}
        self.step: list[int] = []
        self.phase: list[int] = []
        self.told: list[bool] = []
        self.names: dict[str, int] = {}
        self.rows: dict[tuple[int, int], tuple[int, int, int]] = {}

    def read(self, body: object) -> ProgressBatch:
        if not isinstance(body, Mapping):
            raise BadReports([((), "Give an object with time and reports.")])
        for name in body.keys() - {"time", "reports"}:
            self._refuse((str(name),), "There is no such field here. Known fields: time, reports.")
        time = self._time(body.get("time"))
        reports = body.get("reports")
        if not isinstance(reports, list) or not reports:
            self._refuse(("reports",), "Give a list of at least one report.")
        elif len(reports) > MOST_RANKS:
            self._refuse(("reports",), f"At most {MOST_RANKS:,} reports are taken in one call.")
        else:
            for row, report in enumerate(reports):
                self._report(row, report)
                if len(self.errors) >= MOST_ERRORS:
                    break
        if self.errors:
            raise BadReports(self.errors)
        return self._batch(time)

    def _refuse(self, place: Place, text: str) -> None:
        self.errors.append((place, text))

    def _time(self, given: object) -> float:
        """Seconds since 1970, or RFC 3339 with its offset."""
        try:
            if isinstance(given, int | float) and not isinstance(given, bool):
                if 0 <= given < 1e11:
                    return float(given)
            elif isinstance(given, str):
                found = datetime.fromisoformat(given)
                if found.tzinfo is not None:
                    return found.timestamp()
        except (ValueError, OverflowError):
            pass
        self._refuse(
            ("time",), "Give the time as 2026-11-30T16:00:00Z with its offset, or in seconds."
        )
        return 0.0

    def _report(self, row: int, report: object) -> None:
        at = ("reports", row)
        if not isinstance(report, Mapping):
            self._refuse(at, "Give an object with at least rank.")
            return
        for name in report.keys() - _REPORT:
            self._refuse((*at, str(name)), f"Known fields: {', '.join(sorted(_REPORT))}.")
        rank = self._count(report.get("rank"), (*at, "rank"), most=_LARGEST_RANK)
        known = self.ranks.setdefault(rank, row)
        if known != row and rank != NOT_KNOWN:
            self._refuse((*at, "rank"), f"Rank {rank} stands in row {known} as well.")
            return
        self.step.append(self._count(report.get("step"), (*at, "step"), optional=True))
        self.phase.append(self._phase(report.get("phase"), (*at, "phase")))
        comms = report.get("comms")
        self.told.append(comms is not None)
        if comms is None:
            return
        if not isinstance(comms, list):
            self._refuse((*at, "comms"), "Give a list of communicators.")
            return
        for place, comm in enumerate(comms):
            self._comm(rank, comm, (*at, "comms", place))

    def _comm(self, rank: int, comm: object, at: Place) -> None:
        if not isinstance(comm, Mapping):
            self._refuse(at, "Give an object with comm, enqueued and completed.")
            return
        for unknown in comm.keys() - _COMM:
            self._refuse((*at, str(unknown)), f"Known fields: {', '.join(sorted(_COMM))}.")
        name = comm.get("comm")
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
            self._refuse((*at, "comm"), f"Give a name of at most {_LONGEST_NAME} characters.")
            return
        counts = (
            self._count(comm.get("enqueued"), (*at, "enqueued")),
            self._count(comm.get("started"), (*at, "started"), optional=True),
            self._count(comm.get("completed"), (*at, "completed")),
        )
        key = (self.names.setdefault(name, len(self.names)), rank)
        if key in self.rows:
            self._refuse((*at, "comm"), f"Rank {rank} reports {name} twice.")
            return
        if len(self.rows) >= MOST_MEMBERSHIPS:
            self._refuse(at, f"At most {MOST_MEMBERSHIPS:,} memberships are taken.")
            return
        self.rows[key] = counts

    def _count(self, given: Any, at: Place, *, optional: bool = False, most: int = _LARGEST) -> int:
        """A number from 0 on; -1 is c10d's own word for none."""
        if type(given) is int and (0 <= given <= most or (given == NOT_KNOWN and most == _LARGEST)):
            return given
        if given is None and optional:
            return NOT_KNOWN
        self._refuse(at, "Give a whole number from 0 on.")
        return NOT_KNOWN

    def _phase(self, given: object, at: Place) -> int:
        if given is None:
            return Phase.UNKNOWN
        found = PHASES.get(given) if isinstance(given, str) else None
        if found is None:
            self._refuse(at, f"Known phases: {', '.join(PHASES)}.")
            return Phase.UNKNOWN
        return found

    def _batch(self, time: float) -> ProgressBatch:
        rows = np.array([(*key, *counts) for key, counts in self.rows.items()], np.int64).reshape(
            -1, 5
        )
        rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        return ProgressBatch(
            time=time,
            ranks=np.fromiter(self.ranks, np.int64),
            step=np.array(self.step, np.int64),
            phase=np.array(self.phase, np.int64),
            told_comms=np.array(self.told, np.bool_),
            counters=CommCounters(tuple(self.names), *rows.T.copy()),
        )
