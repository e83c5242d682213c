"""What came after an incident was decided on: the next attempt, without whom, and how far."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q, QuerySet

from incidents.choices import OPEN_STATUSES, DecisionKind, IncidentKind, Resolution
from incidents.figures.aftermath import Course, passed
from incidents.models import Attempt, Decision, Host, Incident


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The attempt that came after, the hosts that it left out, and whether it got further.

    `broke_after` and `ran` are seconds from the start of the broken attempt and of this one.
    `stopped_by` is the incident at which this one stands still, or stood until its end: what it ran
    counts until then.
    """

    attempt: Attempt
    left_out: Sequence[Host]
    passed: bool | None
    broke_after: float
    ran: float
    stopped_by: Incident | None = None


def aftermath_of(incident: Incident, *, now: datetime) -> Aftermath | None:
    """What came after; None where the job was not started again, as far as is known."""
    broken = incident.attempt
    if broken is None:
        return None
    later = Attempt.objects.filter(job=broken.job_id, number__gt=broken.number)
    after = later.order_by("number").first()
    if after is None:
        return None
    stopped = stopped_by(after)
    course = _course(after, now, stopped)
    before = _course(broken, now)
    return Aftermath(
        attempt=after,
        left_out=left_out(broken, after),
        passed=passed(incident.began_at, before, course),
        broke_after=max((incident.began_at - before.started_at).total_seconds(), 0.0),
        ran=course.seconds,
        stopped_by=stopped,
    )


def stopped_by(attempt: Attempt) -> Incident | None:
    """The first hang or crash that stands on an attempt, or stood when it ended; None for none.

    What was resolved while the attempt went on did not stop it, nor did a false alarm.
    """
    stops = attempt.incidents.filter(
        Q(status__in=OPEN_STATUSES) | Q(resolved_at__gte=F("attempt__ended_at")),
        kind__in=(IncidentKind.HANG, IncidentKind.CRASH),
        merged_into__isnull=True,
    ).exclude(resolution=Resolution.FALSE_ALARM)
    return min(stops, key=lambda one: (one.began_at, one.pk), default=None)


def left_out(before: Attempt, after: Attempt) -> Sequence[Host]:
    """The hosts of one attempt on which a later one has no rank; none where it has no placement."""
    if not after.placements.exists():
        return []
    gone = Host.objects.filter(placements__attempt=before).exclude(placements__attempt=after)
    return list(gone.distinct().order_by("normalised_name"))


def _course(attempt: Attempt, now: datetime, stopped: Incident | None = None) -> Course:
    ended = attempt.ended_at or now
    until = ended if stopped is None else min(ended, stopped.began_at)
    return Course(attempt.started_at, until, attempt.outcome)


def decisions_about(host: Host) -> QuerySet[Decision]:
    """The decisions that stand to act on a host, newest first; rejected ones as well.

    Each once: a later run that recommends the same carries on with the same decision.
    """
    return (
        Decision.objects.filter(
            standing=True,
            carried_from__isnull=True,
            recommendation__diagnosis__incident__hosts=host,
            recommendation__target_host__iexact=host.name,
        )
        .select_related("recommendation__diagnosis__incident")
        .order_by("-decided_at", "-id")
    )


def undecided_outcomes(incident: Incident) -> QuerySet[Decision]:
    """The decisions to do something about an incident of which nobody knows yet what came."""
    return Decision.objects.filter(
        standing=True,
        carried_from__isnull=True,
        outcome="pending",
        recommendation__diagnosis__incident=incident,
    ).exclude(kind=DecisionKind.REJECT)
