"""What the desk shows: rows with the newest answer, the line above them, and the filters' menus."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Max, QuerySet
from django.http import QueryDict
from django.utils import timezone

from incidents import selectors
from incidents.choices import ExecutionState, IncidentKind, Severity, VerdictClass
from incidents.filters import ME, NOBODY, OPEN, STATUSES
from incidents.models import Cluster, Decision, Execution, Incident, Recommendation, Suspect
from incidents.selectors import AnsweredIncident


class Weighed(NamedTuple):
    """What an incident is weighed by for the line above the list, in the order of its columns."""

    pk: int
    undecided: bool
    attempt_id: int | None
    gpu_count: int
    onset_at: datetime | None
    opened_at: datetime
    mitigated_at: datetime | None
    resolved_at: datetime | None
    gpus_freed_at: datetime | None

    @property
    def burns(self) -> bool:
        """As `Incident.burns`, without a whole record for each row."""
        ends = (self.mitigated_at, self.resolved_at, self.gpus_freed_at)
        return self.gpu_count > 0 and not any(ends)


@dataclass(frozen=True, slots=True)
class DeskRow:
    """One incident with what its newest answer says."""

    incident: Incident
    undecided: bool
    suspect: Suspect | None
    recommendations: Sequence[Recommendation]

    @property
    def first_advice(self) -> Sequence[tuple[Recommendation, Decision | None, Execution | None]]:
        """The recommendations that are shown, with the decision that stands and what ran for it."""
        return [
            (one, next(iter(one.decisions.all()), None), _what_ran(one))
            for one in self.recommendations[:2]
        ]

    @property
    def first_are_decided(self) -> bool:
        """Whether what waits for someone is among those that are not shown."""
        return all(decision for _, decision, _ in self.first_advice)


@dataclass(frozen=True, slots=True)
class Summary:
    """The line above the list: `gpus` stand idle, on average since `since`.

    `newest` is the key of the youngest incident that was counted.
    """

    count: int
    newest: int = 0
    undecided: int = 0
    gpus: int = 0
    since: datetime | None = None

    @property
    def gpu_hours(self) -> float:
        if self.since is None:
            return 0.0
        return self.gpus * (timezone.now() - self.since).total_seconds() / 3600


@dataclass(frozen=True, slots=True)
class Menu:
    """One filter: its name in the address, its label, and value → label of what can be chosen."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    chosen: str


def _what_ran(recommendation: Recommendation) -> Execution | None:
    execution: Execution | None = getattr(recommendation, "execution", None)
    return execution if execution and execution.state != ExecutionState.PLANNED else None


def desk_rows(incidents: Sequence[AnsweredIncident]) -> Sequence[DeskRow]:
    """The incidents with suspects and recommendations, in three queries however many they are."""
    runs = {one.answer_id for one in incidents if one.answer_id is not None}
    suspects = {one.diagnosis_id: one for one in selectors.top_suspects_of(runs)}
    recommended: dict[int, list[Recommendation]] = defaultdict(list)
    for item in selectors.recommendations_of(runs):
        recommended[item.diagnosis_id].append(item)
    return [
        DeskRow(
            incident=one,
            undecided=one.undecided,
            suspect=suspects.get(one.answer_id or 0),
            recommendations=recommended[one.answer_id or 0],
        )
        for one in incidents
    ]


def summary_of(incidents: QuerySet[AnsweredIncident], *, status: str) -> Summary:
    """Counts in one query; what is open is also weighed by the GPUs that stand idle for it."""
    if status != OPEN:
        counted = incidents.order_by().aggregate(count=Count("pk"), newest=Max("pk"))
        return Summary(count=counted["count"], newest=counted["newest"] or 0)
    rows = incidents.order_by().select_related(None).values_list(*Weighed._fields)
    found = [Weighed(*row) for row in rows]
    burning = _burning(found)
    gpus = sum(count for count, _ in burning)
    return Summary(
        count=len(found),
        newest=max((one.pk for one in found), default=0),
        undecided=sum(1 for one in found if one.undecided),
        gpus=gpus,
        since=_mean_start(burning) if gpus else None,
    )


def _burning(incidents: Iterable[Weighed]) -> Sequence[tuple[int, datetime]]:
    """GPUs that stand idle, and since when; those of one attempt once, for its first incident."""
    lost: dict[object, tuple[int, datetime]] = {}
    for one in incidents:
        if not one.burns:
            continue
        key = ("attempt", one.attempt_id) if one.attempt_id else ("incident", one.pk)
        began = one.onset_at or one.opened_at
        count, since = lost.get(key, (0, began))
        lost[key] = max(count, one.gpu_count), min(since, began)
    return list(lost.values())


def _mean_start(burning: Iterable[tuple[int, datetime]]) -> datetime:
    """The instant from which all GPUs together would have lost what they lost one by one."""
    now, lost, gpus = timezone.now(), timedelta(), 0
    for count, since in burning:
        lost += count * (now - since)
        gpus += count
    return now - lost / gpus


def menus(data: QueryDict) -> Sequence[Menu]:
    """The desk's filters with what can be chosen in each."""
    kinds = [(value, label) for value, label in IncidentKind.choices]
    clusters = Cluster.objects.values_list("name", flat=True)
    people = [(person.username, person.username) for person in selectors.people()]
    offered: list[tuple[str, str, Sequence[tuple[str, str]]]] = [
        ("status", "Status", STATUSES),
        ("kind", "Kind", kinds),
        ("severity", "Severity", Severity.choices),
        ("class", "Cause", VerdictClass.choices),
        ("cluster", "Cluster", [(name, name) for name in clusters]),
        ("owner", "Owner", [(name, name) for name in selectors.owners()]),
        ("assignee", "Assignee", [(ME, "Me"), (NOBODY, "Nobody"), *people]),
    ]
    return [Menu(name, label, options, data.get(name, "")) for name, label, options in offered]
