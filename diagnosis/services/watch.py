"""One look at one running job, from claiming its row to storing what was seen."""

import logging
import os
import socket
import uuid
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from diagnosis.collectives.standstill import Standstill, StandstillRule
from diagnosis.core.packing import UnusableState, pack, unpack
from diagnosis.core.placement import Placement
from diagnosis.degradation.pace import Pace, PaceRule, iteration_times
from diagnosis.degradation.picture import pace_picture
from diagnosis.models import JobWatch, LiveState
from diagnosis.services import metric_sources, metrics, ras, watch_list
from diagnosis.services.evidence import placement_of_attempt
from diagnosis.services.metric_sources import Eyes
from diagnosis.services.metrics import CurrentMetrics
from diagnosis.services.progress import live_progress
from diagnosis.services.watch_coverage import Seen, note_look
from diagnosis.services.watch_incidents import bring_up_to_date, wants_details
from diagnosis.services.watch_metrics import Kept, MetricEyes, MetricLook
from diagnosis.services.watch_situation import Situation, situation_of
from incidents.exceptions import LeaseLost

logger = logging.getLogger(__name__)


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
    still = _rule()(live, placement=placement, now=now.timestamp())
    kept = _kept(watch)
    source = metric_sources.source_for(watch.attempt.job.cluster)
    eyes = MetricEyes(source, known, placement, ask) if source and len(placement) else None
    look = MetricLook()
    if eyes is not None:
        look = eyes.look(kept, began=watch.attempt.started_at.timestamp(), now=now)
    if live is not None and not kept.paced_by_metrics:
        PaceRule().follow(kept.pace, *iteration_times(live.pace_time, live.pace_step))
    situation = _situation(still, look, kept, placement, known)
    if wants_details(watch, situation):
        if eyes is not None and look.judgement is not None:
            look = replace(look, judgement=eyes.named(look.judgement, now))
            situation = _situation(still, look, kept, placement, known)
        situation = _with_pictures(situation, kept.pace, eyes, now)
    seen = Seen(still, look, source, placed=bool(placement), note=polled.note)
    note_look(watch, situation, seen, now)
    watch.state = pack(kept)
    with transaction.atomic():
        bring_up_to_date(watch, situation, owner=owner, now=now)
        _release(watch, owner, now, fields=_SEEN)


def _situation(
    still: Standstill,
    look: MetricLook,
    kept: Kept,
    placement: Placement,
    known: CurrentMetrics,
) -> Situation:
    return situation_of(
        still,
        look,
        slowdown=kept.pace.slowdown,
        placement=placement,
        catalogue=known.catalogue,
    )


def _with_pictures(
    situation: Situation, pace: Pace, eyes: MetricEyes | None, now: datetime
) -> Situation:
    suspects = situation.judgement.suspects if situation.judgement else ()
    drawn = eyes.pictures(suspects, now) if eyes is not None else []
    more = {"metrics": drawn, "pace": pace_picture(pace) if situation.slowdown else None}
    return replace(situation, pictures={**situation.pictures, **more})


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
