"""Two people at once, told kindly: what was seen, what happened since, what was wanted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render

from incidents import selectors
from incidents.choices import Action, Resolution
from incidents.exceptions import StaleVersion
from incidents.models import Event, Incident
from incidents.services.changing import standing_of
from incidents.views.requests import PageRequest

#: What of an incident people change, in the words of the page.
_SHOWN = {
    "status": "Status",
    "resolution": "Resolution",
    "assignee": "Assignee",
    "severity": "Severity",
    "kind": "Kind",
    "title": "Title",
    "snoozed": "Snoozed",
}
#: Fields of forms that say what someone wanted.
_WANTED = {
    "resolution": "Resolution",
    "assignee": "Assignee",
    "title": "Title",
    "kind": "Kind",
    "severity": "Severity",
    "snooze": "Snooze",
    "into": "Into",
    "changed_action": "Instead",
    "changed_target": "On",
    "reason": "Because",
    "note": "Note",
}
_NO_KIND = frozenset({"decide"})


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact as it was seen and as it is."""

    name: str
    seen: str
    now: str


def conflict(request: PageRequest, error: StaleVersion, pk: int, text: str) -> HttpResponse:
    """The dialog that tells both versions; 412, as programs get it."""
    incident = selectors.incidents().get(pk=pk)
    since = list(selectors.changes_since(incident, error.expected))
    decides = "seen" in request.POST
    context = {
        "incident": incident,
        "text": text,
        "since": [] if decides else since,
        "differences": [] if decides else _differences(incident, since),
        "did": _did(request),
        "wanted": _wanted(request.POST),
        "field": "seen" if decides else "version",
        "current": error.current,
    }
    return render(request, "incidents/_conflict.html", context, status=412)


def _differences(incident: Incident, since: Sequence[Event]) -> Sequence[Difference]:
    """What is not as it was seen; empty where the events tell no earlier state."""
    before = since[0].data.get("before") if since else None
    if not isinstance(before, Mapping):
        return []
    now = standing_of(incident)
    return [
        Difference(label, str(before.get(name, "")) or "none", str(now[name]) or "none")
        for name, label in _SHOWN.items()
        if str(before.get(name, "")) != str(now[name])
    ]


def _did(request: PageRequest) -> str:
    """The step that was wanted, from its address and form."""
    match = request.resolver_match
    name = (match.url_name if match else None) or "change"
    if name in _NO_KIND:
        return request.POST.get("kind", name).capitalize()
    return name.replace("-", " ").capitalize()


def _wanted(given: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """What was filled in, in words."""
    labels = {**dict(Resolution.choices), **dict(Action.choices)}
    return [
        (label, labels.get(given[name], given[name]))
        for name, label in _WANTED.items()
        if given.get(name)
    ]
