"""How a job went: its attempts with what broke them, its pace, what was lost."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Sum

from incidents.figures.degradation import Pace
from incidents.figures.incidents import Figures, figures_of
from incidents.models import Incident, Job, PaceHour
from incidents.selectors.counting import count


def incidents_by_attempt(job: Job) -> Mapping[int, Sequence[Incident]]:
    """Attempt's key → its incidents, in order."""
    found: dict[int, list[Incident]] = defaultdict(list)
    rows = Incident.objects.filter(job=job, attempt__isnull=False, merged_into__isnull=True)
    for one in rows.order_by("opened_at", "id"):
        found[one.attempt_id or 0].append(one)
    return found


def figures_of_job(job: Job, *, now: datetime) -> Figures:
    """What the job's incidents cost."""
    found = Incident.objects.filter(job=job, merged_into__isnull=True)
    return figures_of(count(found, now=now))


def pace_of_job(job: Job) -> Sequence[tuple[datetime, Pace]]:
    """Hour → the iterations that were seen, over all attempts."""
    hours = PaceHour.objects.filter(attempt__job=job).values("hour").order_by("hour")
    summed = hours.annotate(
        iterations_=Sum("iterations"), seconds_=Sum("seconds"), excess_=Sum("excess_s")
    )
    rows = summed.values_list("hour", "iterations_", "seconds_", "excess_")
    return [(hour, Pace(*rest)) for hour, *rest in rows]
