"""Until when the GPUs of an attempt can stand idle for an incident."""

from datetime import datetime

from django.db.models import Min
from django.utils import timezone

from incidents.models import Attempt, Incident, Job


def freed_at(attempt: Attempt) -> datetime | None:
    """When the attempt ended or a later one of its job began; None while neither has happened."""
    later = attempt.job.attempts.filter(number__gt=attempt.number)
    ends = (attempt.ended_at, later.aggregate(first=Min("started_at"))["first"])
    return min((end for end in ends if end is not None), default=None)


def note_freed(job: Job) -> None:
    """Brings the incidents of a job up to date after one of its attempts began or ended."""
    for attempt in job.attempts.filter(incidents__isnull=False).distinct():
        end = freed_at(attempt)
        Incident.objects.filter(attempt=attempt).exclude(gpus_freed_at=end).update(
            gpus_freed_at=end, updated_at=timezone.now()
        )
