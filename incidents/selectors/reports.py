"""What reports are made of, read with few columns and few queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from incidents.choices import IncidentKind
from incidents.figures.incidents import Counted
from incidents.figures.judging import Precision
from incidents.figures.periods import Period
from incidents.figures.report import Report, Seen, report_of
from incidents.models import Attempt, Incident, JudgedRule, PaceHour, Reckoning
from incidents.selectors.counting import Epoch, count


@dataclass(frozen=True, slots=True)
class Scope:
    """What a report is about; empty for all. `fault` is a code, as answers give it."""

    cluster: str = ""
    owner: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """How often a rule was right, of the decided incidents in which it spoke."""

    kind: str
    code: str
    precision: Precision


def counted(scope: Scope, period: Period, *, now: datetime) -> Counted:
    """The incidents that were opened in this time, merged ones once."""
    found = incidents_of(scope).filter(opened_at__gte=period.since, opened_at__lt=period.until)
    return count(found, now=now)


def incidents_of(scope: Scope) -> QuerySet[Incident]:
    """The incidents of a scope, merged ones once."""
    found = Incident.objects.filter(merged_into__isnull=True)
    if scope.cluster:
        found = found.filter(cluster__name=scope.cluster)
    if scope.owner:
        found = found.filter(job__owner=scope.owner)
    if scope.fault:
        found = found.filter(reckoning__fault=scope.fault)
    return found


def restarts(scope: Scope, period: Period) -> Sequence[float]:
    """When attempts began that were not their job's first.

    With a fault, those after an attempt that broke by it.
    """
    found = _of_jobs(Attempt.objects.filter(number__gt=1), scope)
    found = found.filter(started_at__gte=period.since, started_at__lt=period.until)
    if scope.fault:
        broke = Incident.objects.filter(
            attempt__job=OuterRef("job"),
            attempt__number=OuterRef("number") - 1,
            reckoning__fault=scope.fault,
        )
        found = found.filter(Exists(broke))
    return list(found.order_by().values_list(Epoch("started_at"), flat=True))


def _of_jobs(attempts: QuerySet[Attempt], scope: Scope) -> QuerySet[Attempt]:
    if scope.cluster:
        attempts = attempts.filter(job__cluster__name=scope.cluster)
    if scope.owner:
        attempts = attempts.filter(job__owner=scope.owner)
    return attempts


def hosts_held(scope: Scope, period: Period) -> Sequence[float]:
    """When delivery checks named hosts that were held back, once for each host."""
    found = incidents_of(scope).filter(
        kind=IncidentKind.CHECK,
        opened_at__gte=period.since,
        opened_at__lt=period.until,
        hosts__isnull=False,
    )
    return list(found.order_by().values_list(Epoch("opened_at"), flat=True))


def pace_by_hour(scope: Scope, period: Period) -> Sequence[tuple[float, float, float]]:
    """Hour, seconds of all iterations that were seen, and seconds beyond 1.2 times the mean."""
    found = PaceHour.objects.filter(hour__gte=period.since, hour__lt=period.until)
    if scope.cluster:
        found = found.filter(attempt__job__cluster__name=scope.cluster)
    if scope.owner:
        found = found.filter(attempt__job__owner=scope.owner)
    if scope.fault:
        slow = Incident.objects.filter(attempt=OuterRef("attempt"), reckoning__fault=scope.fault)
        found = found.filter(Exists(slow))
    summed = found.values("hour").annotate(all=Sum("seconds"), beyond=Sum("excess_s"))
    rows = summed.order_by("hour").values_list("hour", "all", "beyond")
    return [(hour.timestamp(), every, beyond) for hour, every, beyond in rows]


def rule_records(scope: Scope | None = None, period: Period | None = None) -> Sequence[RuleRecord]:
    """Every rule that spoke for a suspect that was decided on, the most decided first."""
    found = JudgedRule.objects.all()
    if period is not None:
        found = found.filter(
            incident__opened_at__gte=period.since, incident__opened_at__lt=period.until
        )
    if scope is not None:
        if scope.cluster:
            found = found.filter(incident__cluster__name=scope.cluster)
        if scope.owner:
            found = found.filter(incident__job__owner=scope.owner)
        if scope.fault:
            found = found.filter(incident__reckoning__fault=scope.fault)
    return _records(found)


def records_of(codes: Iterable[str], *, beside: int) -> Sequence[RuleRecord]:
    """How often the rules with these codes were right, over all time.

    The incident `beside` which it is shown does not count: a rule of it alone has decided 0.
    """
    return _records(JudgedRule.objects.filter(code__in=set(codes)), but=beside)


def _records(judged: QuerySet[JudgedRule], *, but: int = 0) -> Sequence[RuleRecord]:
    grouped, others = judged.order_by().values("kind", "code"), ~Q(incident=but)
    summed = grouped.annotate(
        decided=Count("id", filter=others),
        good=Count("id", filter=others & Q(right=True)),
        sure=Count("id", filter=others & Q(confirmed=True)),
    )
    rows = summed.order_by("-decided", "kind", "code").values_list(
        "kind", "code", "good", "decided", "sure"
    )
    return [RuleRecord(kind, code, Precision(*rest)) for kind, code, *rest in rows]


def known_faults() -> Sequence[str]:
    """Codes of faults that answers named first, for a menu."""
    found = Reckoning.objects.exclude(fault="").order_by("fault").values_list("fault", flat=True)
    return list(found.distinct())


def seen(scope: Scope, period: Period, *, now: datetime) -> Seen:
    """What a report of this time is made of."""
    return Seen(
        incidents=counted(scope, period, now=now),
        restarts=restarts(scope, period),
        held=hosts_held(scope, period),
        paces=pace_by_hour(scope, period),
    )


def report(scope: Scope, period: Period, *, now: datetime) -> Report:
    """The report of this time beside the one before."""
    earlier = seen(scope, period.before, now=now)
    return report_of(period, seen(scope, period, now=now), earlier)
