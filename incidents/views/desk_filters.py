"""Which incidents the desk's address asks for, for its list and for steps on all that match."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from incidents import selectors
from incidents.choices import OPEN_STATUSES, IncidentStatus
from incidents.filters import OPEN, IncidentFilter
from incidents.models import Incident

#: Filters that are always on, and therefore nothing to clear.
_ALWAYS_ON = frozenset({"status", "snoozed"})


@dataclass(frozen=True, slots=True)
class Sought:
    """The filters that count, those `left_out` because they make no sense (name → why), and what
    they find: the worst first where it is open, else the newest.
    """

    data: QueryDict
    left_out: Mapping[str, str]
    incidents: QuerySet[Incident]

    @property
    def status(self) -> str:
        return str(self.data["status"])

    @property
    def is_narrowed(self) -> bool:
        names = IncidentFilter.get_filters().keys() - _ALWAYS_ON
        return any(self.data.get(name) for name in names)

    def query(self, *, after: str = "") -> str:
        """The same filters at a place of the list, as the end of an address."""
        there = QueryDict(mutable=True)
        for name, value in {**self.data.dict(), "after": after}.items():
            if value:
                there[name] = str(value)
        return f"?{there.urlencode()}"


def sought(given: QueryDict, request: HttpRequest) -> Sought:
    """What an address's filters ask for; open incidents that are awake where it does not say."""
    data = given.copy()
    asked = IncidentFilter(data, queryset=selectors.incidents(), request=request)
    left_out = {name: " ".join(map(str, texts)) for name, texts in asked.errors.items()}
    for name in left_out:
        data.pop(name, None)
    data["status"] = status = data.get("status") or OPEN
    if status == OPEN or status in OPEN_STATUSES:
        data.setdefault("snoozed", "no")
    found = IncidentFilter(data, queryset=selectors.incidents(), request=request).qs
    if status not in {"all", IncidentStatus.RESOLVED}:
        found = selectors.worst_first(found)
    return Sought(data, left_out, found)
