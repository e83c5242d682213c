"""Which running attempts are watched, which of them are due, and who holds one."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from diagnosis.models import JobWatch, WatchVerdict
from incidents.models import Attempt

#: Looks that something calls for are at least so far apart.
HASTENED_EVERY = timedelta(seconds=15)
#: A large prime: neighbours in the table are far apart in time.
_STRIDE = 7919


def enrol(*, now: datetime) -> None:
    """Watches every attempt that began running, and lets go of those that ended.

    Of several attempts of a job that nobody ended only the newest runs. First looks are spread
    over the interval.
    """
    interval = settings.WATCH_INTERVAL_SECONDS
    running = _running()
    known = JobWatch.objects.filter(attempt=OuterRef("pk"))
    JobWatch.objects.bulk_create(
        [
            JobWatch(attempt_id=pk, next_due_at=now + timedelta(seconds=pk * _STRIDE % interval))
            for pk in running.exclude(Exists(known)).values_list("pk", flat=True)
        ],
        ignore_conflicts=True,
        batch_size=500,
    )
    still_runs = running.filter(pk=OuterRef("attempt"))
    JobWatch.objects.filter(active=True).exclude(Exists(still_runs)).update(
        active=False, verdict=WatchVerdict.ENDED, summary="The attempt has ended.", state=None
    )
    JobWatch.objects.filter(Exists(still_runs), active=False).update(
        active=True, verdict=WatchVerdict.NOT_JUDGED, summary="", next_due_at=now
    )


def _running() -> QuerySet[Attempt]:
    later = Attempt.objects.filter(job=OuterRef("job"), number__gt=OuterRef("number"))
    return Attempt.objects.filter(ended_at__isnull=True).exclude(Exists(later))


def call_for_due(*, now: datetime) -> Sequence[int]:
    """Attempts that are due, held by nobody and not just announced; marked as announced."""
    stale = now - timedelta(seconds=settings.WATCH_LEASE_SECONDS)
    waiting = _due(now).filter(Q(announced_at__isnull=True) | Q(announced_at__lt=stale))
    due = list(waiting.order_by("next_due_at").values_list("pk", flat=True))
    JobWatch.objects.filter(pk__in=due).update(announced_at=now)
    return due


def claim(*, pk: int, owner: str, now: datetime) -> bool:
    """Takes a due watch for `owner`; False where it is not due, or another worker has it."""
    lease = now + timedelta(seconds=settings.WATCH_LEASE_SECONDS)
    return bool(_due(now).filter(pk=pk).update(lease_owner=owner, lease_expires_at=lease))


def _due(now: datetime) -> QuerySet[JobWatch]:
    free = Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lt=now)
    return JobWatch.objects.filter(free, active=True, next_due_at__lte=now)


def hasten(*, pk: int, now: datetime) -> None:
    """Makes a watch due at once, unless it was looked at just now or shows the trouble already."""
    early = JobWatch.objects.filter(
        pk=pk, active=True, next_due_at__gt=now, judged_at__lt=now - HASTENED_EVERY
    )
    early.exclude(verdict=WatchVerdict.HUNG).update(next_due_at=now)


def held_by(*, pk: int, owner: str) -> QuerySet[JobWatch]:
    """The watch as long as it is still `owner`'s: every write of a judgement goes through it."""
    return JobWatch.objects.filter(pk=pk, lease_owner=owner, active=True)


def looks_missed(watch: JobWatch, *, now: datetime) -> int:
    """How many whole intervals ago the watch was due: the next look stands for those as well."""
    interval = timedelta(seconds=settings.WATCH_INTERVAL_SECONDS)
    return max(0, (now - watch.next_due_at) // interval)


def next_due(watch: JobWatch, *, now: datetime) -> datetime:
    """The next moment after `now` in step with the earlier ones, so that jobs stay spread out."""
    interval = timedelta(seconds=settings.WATCH_INTERVAL_SECONDS)
    return watch.next_due_at + (looks_missed(watch, now=now) + 1) * interval
