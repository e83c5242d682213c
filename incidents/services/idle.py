"""How many GPUs of an attempt stand idle for an incident, and until when they can."""

from datetime import datetime

from django.db.models import Min
from django.utils import timezone

from incidents.choices import DiagnosisState, IncidentKind
from incidents.models import Attempt, Diagnosis, Incident, Job


def idle_gpus(incident: Incident) -> int:
    """All GPUs of its attempt; of a slow job as many as do the work that is lost, 0 for not known.

    The newest answer that tells the lost share counts.
    """
    if incident.attempt is None:
        return 0
    ranks = incident.attempt.placements.count()
    if incident.kind != IncidentKind.DEGRADATION:
        return ranks
    share = _lost_share(incident)
    return max(round(ranks * share), 1) if ranks and share > 0 else 0


def _lost_share(incident: Incident) -> float:
    if incident.pk is None:
        return 0.0
    runs = Diagnosis.objects.filter(incident=incident, state=DiagnosisState.DONE)
    told = runs.filter(coverage__has_key="lost_share").order_by("-number")
    coverage = told.values_list("coverage", flat=True).first() or {}
    share = coverage.get("lost_share")
    return min(max(float(share), 0.0), 1.0) if isinstance(share, int | float) else 0.0


def recount(attempt: Attempt) -> None:
    """Counts the GPUs of an attempt's incidents anew: its placement is another one.

    Pages that show an incident learn of it by its `updated_at`.
    """
    for incident in attempt.incidents.select_related("attempt"):
        count = idle_gpus(incident)
        if count != incident.gpu_count:
            Incident.objects.filter(pk=incident.pk).update(
                gpu_count=count, updated_at=timezone.now()
            )


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
