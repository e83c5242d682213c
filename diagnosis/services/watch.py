"""One look at one running job, from claiming its row to storing what was seen."""

import logging
import os
import socket
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from diagnosis.collectives.standstill import Motion, Standstill, StandstillRule
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.metrics import MetricWindow
from diagnosis.core.packing import UnusableState, pack, unpack
from diagnosis.core.placement import Placement
from diagnosis.degradation.pace import Pace, PaceRule, iteration_times
from diagnosis.degradation.picture import pace_picture
from diagnosis.models import JobWatch, LiveState
from diagnosis.services import metric_sources, metrics, ras, watch_list
from diagnosis.services.evidence import placement_of_attempt
from diagnosis.services.kept_windows import keep_window
from diagnosis.services.metric_sources import Eyes
from diagnosis.services.metrics import CurrentMetrics
from diagnosis.services.progress import live_progress
from diagnosis.services.ras import Polled
from diagnosis.services.watch_coverage import Seen, note_look
from diagnosis.services.watch_evidence import beside, told_by_evidence
from diagnosis.services.watch_incidents import bring_up_to_date, wants_details
from diagnosis.services.watch_metrics import Kept, MetricEyes, MetricLook
from diagnosis.services.watch_rules import WatchRules, rules_for
from diagnosis.services.watch_situation import Situation, situation_of
from incidents.exceptions import LeaseLost
from incidents.services.pace import note_pace

logger = logging.getLogger(__name__)
#: Seconds between two points of a job's pace over which nobody knows what it did.
_GAP = 600.0


def judge(pk: int, *, now: datetime | None = None, ask: Eyes = metric_sources.ask) -> bool:
    """Judges one running attempt; False where it is not due, or another worker has it.

    Whatever goes wrong ends in the row, with words for a person; the job is looked at again when
    it is due next. Nothing that takes long happens inside a transaction.
    """
    now = now or timezone.now()
    owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    if not watch_list.claim(pk=pk, owner=owner, now=now):
        return False
    watch = JobWatch.objects.select_related("attempt__job__cluster", "incident").get(pk=pk)
    try:
        _look(watch, owner, now, ask)
    except LeaseLost:
        logger.info("Watch of attempt %s: another worker's look stands", pk)
        return False
    except Exception as error:
        logger.exception("Watch of attempt %s failed", pk)
        watch.error = f"The look at this job failed: {type(error).__name__}: {error}"
        watch.error_since = watch.error_since or now
        _release(watch, owner, now, fields=("error", "error_since"))
    return True


def _look(watch: JobWatch, owner: str, now: datetime, ask: Eyes) -> None:
    placement = placement_of_attempt(watch.attempt)
    known = metrics.current()
    reported = live_progress(LiveState.objects.filter(attempt=watch.attempt_id).first())
    polled = ras.poll(watch.attempt, placement, reported, now=now)
    live = polled.live
    rules = rules_for(watch.attempt, now)
    still = _rule()(live, placement=placement, now=now.timestamp())
    if still.motion is Motion.STILL:
        polled = ras.ask_beside(watch.attempt, placement, polled)
    kept = _kept(watch)
    followed_until = kept.pace.time[-1] if len(kept.pace.time) else -np.inf
    source = metric_sources.source_for(watch.attempt.job.cluster)
    eyes = MetricEyes(source, known, placement, ask) if source and len(placement) else None
    look = MetricLook()
    if eyes is not None:
        look = eyes.look(kept, began=watch.attempt.started_at.timestamp(), now=now)
    if live is not None and not kept.paced_by_metrics:
        PaceRule().follow(kept.pace, *iteration_times(live.pace_time, live.pace_step))
    situation = _situation(still, polled, look, kept, placement, known, rules)
    window: MetricWindow | None = None
    if wants_details(watch, situation):
        if eyes is not None and look.judgement is not None:
            look = replace(look, judgement=eyes.named(look.judgement, now))
        told = told_by_evidence(watch.attempt, placement, known.catalogue)
        situation = _situation(still, polled, look, kept, placement, known, rules, told)
        window = _window_to_keep(situation, eyes, now)
        situation = _with_pictures(situation, kept.pace, eyes, window)
    missed = watch_list.looks_missed(watch, now=now)
    seen = Seen(still, look, source, bool(placement), polled.note, missed)
    note_look(watch, situation, seen, now)
    watch.state = pack(kept)
    with transaction.atomic():
        bring_up_to_date(watch, situation, owner=owner, now=now)
        _note_pace(watch, kept.pace, float(followed_until))
        _release(watch, owner, now, fields=_SEEN)
    if window is not None and watch.incident is not None:
        keep_window(watch.incident, window)


def _note_pace(watch: JobWatch, pace: Pace, since: float) -> None:
    """Adds the iterations after `since` (seconds since 1970) to the attempt's hours.

    A point stands for the time since the one before it; the first one, and one after a gap, for a
    single iteration.
    """
    new = pace.time > since
    if not new.any():
        return
    before = np.concatenate(([np.nan], pace.time[:-1]))
    span = np.where(pace.time - before <= _GAP, pace.time - before, np.nan)
    counts = np.where(np.isfinite(span), span / pace.seconds, 1.0)
    note_pace(
        attempt=watch.attempt,
        times=pace.time[new].tolist(),
        seconds=pace.seconds[new].tolist(),
        counts=counts[new].tolist(),
    )


def _situation(
    still: Standstill,
    polled: Polled,
    look: MetricLook,
    kept: Kept,
    placement: Placement,
    known: CurrentMetrics,
    rules: WatchRules,
    told: Sequence[Conclusion] = (),
) -> Situation:
    heeded, left_out = rules.heeded(look)
    found = situation_of(
        still,
        heeded,
        slowdown=kept.pace.slowdown,
        placement=placement,
        catalogue=known.catalogue,
        asked=polled.asked,
    )
    return rules.held_back(beside(found, told), left_out)


def _window_to_keep(
    situation: Situation, eyes: MetricEyes | None, now: datetime
) -> MetricWindow | None:
    """What the source tells around the onset of a slowdown, before it forgets."""
    if eyes is None or situation.onset is None:
        return None
    suspects = situation.judgement.suspects if situation.judgement else ()
    onset = min((suspect.onset for suspect in suspects), default=situation.onset)
    return eyes.window_around(onset, now) if suspects or situation.slowdown else None


def _with_pictures(
    situation: Situation, pace: Pace, eyes: MetricEyes | None, window: MetricWindow | None
) -> Situation:
    suspects = situation.judgement.suspects if situation.judgement else ()
    drawn = eyes.pictures(window, suspects) if eyes is not None else {}
    metrics = {**drawn, "pace": pace_picture(pace) if situation.slowdown else None}
    return replace(situation, pictures={**situation.pictures, "metrics": metrics})


def _rule() -> StandstillRule:
    return StandstillRule(
        still_s=settings.WATCH_STILL_SECONDS,
        fresh_s=settings.WATCH_FRESH_SECONDS,
        first_step_s=settings.WATCH_FIRST_STEP_SECONDS,
        eval_s=settings.WATCH_EVALUATION_SECONDS,
        checkpoint_s=settings.WATCH_CHECKPOINT_SECONDS,
        alike_s=settings.WATCH_CHECKPOINT_SECONDS,
    )


def _kept(watch: JobWatch) -> Kept:
    """What was kept at the last look; nothing where it is of an earlier version."""
    if watch.state is None:
        return Kept()
    try:
        return unpack(Kept, bytes(watch.state))
    except UnusableState as error:
        logger.info("Watch of attempt %s learns anew: %s", watch.pk, error)
        return Kept()


#: What a look writes.
_SEEN = (
    "judged_at", "judgements", "verdict", "summary", "phase", "coverage", "seen_until", "error",
    "error_since", "state", "incident", "cause",
)  # fmt: skip


def _release(watch: JobWatch, owner: str, now: datetime, *, fields: Iterable[str]) -> None:
    """Writes what was seen and gives the row back. Raises `LeaseLost` where it is another's."""
    written = watch_list.held_by(pk=watch.pk, owner=owner).update(
        **{name: getattr(watch, name) for name in fields},
        lease_owner="",
        lease_expires_at=None,
        announced_at=None,
        next_due_at=watch_list.next_due(watch, now=now),
    )
    if not written:
        raise LeaseLost(f"The watch of attempt {watch.pk} is no longer held by {owner}.")
