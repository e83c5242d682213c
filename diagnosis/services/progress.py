"""Progress reports of running attempts: taken in, and read back."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from diagnosis.collectives.live import follow
from diagnosis.core.live_progress import LiveProgress, ProgressBatch
from diagnosis.core.packing import UnusableState, pack, unpack
from diagnosis.models import LiveState
from diagnosis.services import watch_list
from incidents.exceptions import InvalidInput, RecordsError
from incidents.models import Attempt
from incidents.roles import Actor, Capability

#: How far a reporter's clock may be ahead (s); what is a little ahead counts as now.
AHEAD_LIMIT = 300.0


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one call: reports in it, those passed over as late, ranks known since."""

    reports: int
    late: int
    ranks: int


@transaction.atomic
def take_reports(
    *, actor: Actor, attempt: Attempt, batch: ProgressBatch, now: datetime | None = None
) -> Taken:
    """Merges a call into what is known of the attempt. Sending it again changes nothing.

    Reports that stand still call the watch, which else looks at its interval. There is no event:
    reports come every few seconds, and what they amount to is judged by the watch. Raises
    `RecordsError` for an attempt that has ended, `InvalidInput` for a time to come.
    """
    actor.require(Capability.REGISTER_JOBS)
    now = now or timezone.now()
    attempt = Attempt.objects.select_for_update().get(pk=attempt.pk)
    if attempt.ended_at is not None:
        raise RecordsError(f"{attempt} has ended; its progress is not followed any longer.")
    ahead = batch.time - now.timestamp()
    if ahead > AHEAD_LIMIT:
        raise InvalidInput(f"The time is {ahead:.0f} s ahead of the clock here.", field="time")
    known = LiveState.objects.filter(attempt=attempt).first()
    live, late = follow(live_progress(known), replace(batch, time=min(batch.time, now.timestamp())))
    _store(attempt, live, now)
    if live.last_seen - live.last_moved >= settings.WATCH_STILL_SECONDS:
        watch_list.hasten(pk=attempt.pk, now=now)
    return Taken(reports=len(batch.ranks), late=late, ranks=len(live.ranks))


@transaction.atomic
def take_polled(*, attempt: Attempt, batch: ProgressBatch, now: datetime) -> LiveProgress:
    """The same for what the watch itself asked for; what is known of the attempt afterwards."""
    attempt = Attempt.objects.select_for_update().get(pk=attempt.pk)
    known = LiveState.objects.filter(attempt=attempt).first()
    live, _ = follow(live_progress(known), batch)
    _store(attempt, live, now)
    return live


def _store(attempt: Attempt, live: LiveProgress, now: datetime) -> None:
    LiveState.objects.update_or_create(
        attempt=attempt,
        defaults={
            "state": pack(live),
            "ranks": len(live.ranks),
            "reported_at": datetime.fromtimestamp(live.last_seen, UTC),
            "received_at": now,
        },
    )


def live_progress(known: LiveState | None) -> LiveProgress | None:
    """What is known of an attempt's progress; None where nothing is, or nothing usable."""
    if known is None:
        return None
    try:
        return unpack(LiveProgress, bytes(known.state))
    except UnusableState:
        return None
