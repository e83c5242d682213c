"""What the triage desk reads: incidents worst first, each with its newest answer."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from django.db.models import (
    Case,
    Exists,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.utils import timezone

from incidents.choices import OPEN_STATUSES, Action, DiagnosisState, IncidentKind, Severity
from incidents.models import (
    Decision,
    Diagnosis,
    Event,
    Incident,
    Job,
    Recommendation,
    SavedView,
    Suspect,
    User,
)
from incidents.models.incident import HOLD_KEY
from incidents.selectors.records import incidents

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

_SEVERITY_RANK = Case(
    *[When(severity=severity, then=Value(rank)) for rank, severity in enumerate(Severity)],
    output_field=IntegerField(),
)


def desk() -> QuerySet[Incident]:
    """Open incidents, worst first."""
    return worst_first(incidents().filter(status__in=OPEN_STATUSES))


def worst_first(incidents: QuerySet[Incident]) -> QuerySet[Incident]:
    """By severity, then by the GPUs that stand idle, then the longest open."""
    return incidents.annotate(severity_rank=_SEVERITY_RANK).order_by(
        "severity_rank", "-gpu_count", "opened_at", "id"
    )


class AnswerFields(TypedDict):
    """What `with_answer` adds to an incident."""

    answer_id: int | None
    undecided: bool


if TYPE_CHECKING:
    AnsweredIncident = WithAnnotations[Incident, AnswerFields]
else:
    AnsweredIncident = Incident


def with_answer(incidents: QuerySet[Incident]) -> QuerySet[AnsweredIncident]:
    """Adds `answer_id`, the newest finished run, and `undecided`, whether it waits for someone.

    What is resolved waits for nobody, nor does the isolation that a delivery check carried out.
    """
    runs = Diagnosis.objects.filter(incident=OuterRef("pk"), state=DiagnosisState.DONE)
    waiting = Recommendation.objects.filter(diagnosis=OuterRef("answer_id")).exclude(
        Q(action=Action.NONE) | Q(decisions__standing=True)
    )
    is_hold = Q(kind=IncidentKind.CHECK, dedup_key__startswith=HOLD_KEY)
    beside_hold = waiting.exclude(action=Action.ISOLATE_HOST)
    waits = ~is_hold & Q(Exists(waiting)) | is_hold & Q(Exists(beside_hold))
    return incidents.annotate(
        answer_id=Subquery(runs.order_by("-number").values("pk")[:1])
    ).annotate(undecided=Q(status__in=OPEN_STATUSES) & waits)


def recommendations_of(runs: Collection[int]) -> QuerySet[Recommendation]:
    """What these runs recommend, with their commands and only the decisions that stand."""
    standing = Decision.objects.filter(standing=True)
    return (
        Recommendation.objects.filter(diagnosis__in=runs)
        .exclude(action=Action.NONE)
        .order_by("diagnosis", "position")
        .select_related("execution")
        .prefetch_related(Prefetch("decisions", queryset=standing))
    )


def top_suspects_of(runs: Collection[int]) -> QuerySet[Suspect]:
    """The first suspect of each of these runs."""
    return Suspect.objects.filter(diagnosis__in=runs, position=1)


def latest_change() -> tuple[object, ...]:
    """The newest event, the newest change of any incident, the next end of a snooze: same values,
    same desk.
    """
    newest = Event.objects.aggregate(found=Max("id"))["found"] or 0
    changed = Incident.objects.aggregate(found=Max("updated_at"))["found"]
    asleep = Incident.objects.filter(snoozed_until__gt=timezone.now())
    return newest, changed, asleep.aggregate(found=Min("snoozed_until"))["found"]


def views_for(person: User) -> QuerySet[SavedView]:
    """The views of the desk that someone sees: their own, then what others share, by name."""
    mine = Case(When(owner=person, then=Value(0)), default=Value(1), output_field=IntegerField())
    seen = SavedView.objects.filter(Q(owner=person) | Q(shared=True))
    return seen.select_related("owner").order_by(mine, "name", "id")


def owners() -> list[str]:
    """Who owns jobs, by name."""
    found = Job.objects.exclude(owner="").order_by("owner").values_list("owner", flat=True)
    return list(found.distinct())


def people() -> QuerySet[User]:
    """Who can be given an incident."""
    return User.objects.filter(is_active=True).order_by("username")


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """What an instance has seen already."""

    has_incidents: bool
    has_jobs: bool


def first_steps() -> FirstSteps:
    """How far a new instance has come."""
    return FirstSteps(Incident.objects.exists(), Job.objects.exists())
