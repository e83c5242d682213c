"""When a running job counts as hung: live reports that stand still, outside every grace.

One sample proves nothing; two that show the same, a minute apart, do, unless the phase explains
it. Reports that are old are no evidence of standing still: nothing is said on them.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from diagnosis.collectives.counters import collective_progress, step_marks
from diagnosis.core.collectives import NOT_KNOWN, Bools, CollectiveProgress, Communicator
from diagnosis.core.live_progress import LiveProgress, Phase
from diagnosis.core.placement import Placement


class Motion(StrEnum):
    """What live reports say of a job."""

    NO_REPORTS = "no-reports"
    STALE = "stale"
    MOVING = "moving"
    PAUSED = "paused"
    STILL = "still"


@dataclass(frozen=True, slots=True)
class Standstill:
    """The judgement of one moment. Times are seconds since 1970, spans seconds.

    `still_s` is for how long reports have shown the same, `limit_s` what is allowed in `phase`;
    `fresh` of `known` ranks have reported lately. `progress` is there where the job is STILL, and
    `steps`, how far each rank's log or report says it is, where both steps and counters are told.
    """

    motion: Motion
    reason: str
    last_seen: float | None = None
    last_moved: float | None = None
    still_s: float = 0.0
    limit_s: float = 0.0
    phase: Phase = Phase.UNKNOWN
    fresh: int = 0
    known: int = 0
    progress: CollectiveProgress | None = None
    steps: Communicator | None = None


@dataclass(frozen=True, slots=True)
class StandstillRule:
    """Named thresholds in seconds; an administrator can change each.

    `still_s`: two reports a minute apart are allowed to show the same no longer than that.
    `fresh_s`: an older report says nothing about now. `first_step_s`, `eval_s`, `checkpoint_s`:
    grace while any rank is in that phase; the first counts until the job has moved `first_moves`
    times. `alike_s`: grace while no rank is behind and no collective is open, which is how an
    unannounced checkpoint, evaluation or data stall looks. `pause_factor` times the longest of the
    job's own recent pauses, and `pause_more`, are allowed as well, so that slow steps are no hang.
    """

    still_s: float = 55.0
    fresh_s: float = 180.0
    first_step_s: float = 1800.0
    eval_s: float = 1800.0
    checkpoint_s: float = 600.0
    alike_s: float = 600.0
    first_moves: int = 3
    pause_factor: float = 1.5
    pause_more: float = 10.0

    def __call__(
        self, live: LiveProgress | None, *, placement: Placement, now: float
    ) -> Standstill:
        """Is the job moving, pausing within its grace, or standing still at `now`?"""
        if live is None or not len(live.ranks):
            return Standstill(Motion.NO_REPORTS, "no progress was reported")
        fresh = live.seen >= now - self.fresh_s
        known = max(len(live.ranks), len(placement))
        if not fresh.any():
            reason = f"the last report is {_span(now - live.last_seen)} old"
            return Standstill(
                Motion.STALE, reason, live.last_seen, live.last_moved, fresh=0, known=known
            )
        phase = self._phase(live, fresh)
        moved = float(live.changed[fresh].max())
        still = max(0.0, float(np.quantile(live.seen[fresh], 0.1)) - moved)
        limit = self._limit(live, phase)
        progress = None
        if still > limit:
            progress = collective_progress(live, placement, fresh=fresh)
            if _all_alike(progress):
                limit = max(limit, self.alike_s)
        motion = Motion.STILL if still > limit else Motion.PAUSED if still else Motion.MOVING
        return Standstill(
            motion=motion,
            reason=_reason(motion, phase, still, limit),
            last_seen=live.last_seen,
            last_moved=moved,
            still_s=still,
            limit_s=limit,
            phase=phase,
            fresh=int(fresh.sum()),
            known=known,
            progress=progress if motion is Motion.STILL else None,
            steps=step_marks(live, fresh) if len(live.counters) else None,
        )

    def _phase(self, live: LiveProgress, fresh: Bools) -> Phase:
        """The phase that allows most: one rank that writes a checkpoint holds all others up."""
        phases = {Phase(value) for value in np.unique(live.phase[fresh]).tolist()}
        return max(phases, key=self._grace)

    def _grace(self, phase: Phase) -> float:
        allowed = {
            Phase.INIT: self.first_step_s,
            Phase.EVAL: self.eval_s,
            Phase.CHECKPOINT: self.checkpoint_s,
            Phase.TRAIN: self.still_s,
        }
        return allowed.get(phase, self.still_s)

    def _limit(self, live: LiveProgress, phase: Phase) -> float:
        pauses = self.pause_factor * max(live.pauses, default=0.0) + self.pause_more
        usual = max(self.still_s, pauses)
        if live.moves < self.first_moves:
            usual = max(usual, self.first_step_s)
        return max(usual, self._grace(phase))


def _all_alike(progress: CollectiveProgress) -> bool:
    """Is nobody missing, nobody behind and nothing open?"""
    if progress.waiting or progress.missing:
        return False
    for communicator in progress.communicators:
        told = communicator.enqueued[communicator.enqueued != NOT_KNOWN]
        if len(told) and told.min() != told.max():
            return False
    return True


def _reason(motion: Motion, phase: Phase, still: float, limit: float) -> str:
    if motion is Motion.MOVING:
        return "every rank's latest report shows progress" if still == 0 else "moving"
    during = f" in phase {phase.word}" if phase is not Phase.UNKNOWN else ""
    if motion is Motion.PAUSED:
        return f"no progress for {_span(still)}{during}; up to {_span(limit)} is usual there"
    return f"no progress for {_span(still)}{during}, where up to {_span(limit)} is usual"


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
