"""Jobs and hosts: where incidents happen."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from incidents import selectors
from incidents.choices import HostState
from incidents.exceptions import InvalidInput, NotAllowed, RecordsError
from incidents.forms import HostStateForm
from incidents.hostnames import normalise_host
from incidents.models import Host
from incidents.services.hosts import set_state
from incidents.views.job_course import course_of
from incidents.views.paging import Page, Row, page_of, place_of
from incidents.views.past import past_of
from incidents.views.requests import PageRequest, actor_of

_PAGE = 100

#: Rows of each list on a host's page, until the whole is asked for.
_NEWEST = 25


@require_safe
def jobs(request: PageRequest) -> HttpResponse:
    words = request.GET.get("name", "").strip()
    found = selectors.jobs_like(words) if words else selectors.jobs()
    page = page_of(found, after=request.GET.get("after", ""), size=_PAGE)
    trouble = selectors.trouble_of(page.rows)
    rows = [(one, trouble.get(one.pk)) for one in page.rows]
    context = {"rows": rows, "words": words, **_places(request, found, page)}
    return render(request, "incidents/jobs.html", context)


@require_safe
def job(request: PageRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(selectors.jobs(), pk=pk)
    attempts = list(selectors.attempts_with_hosts(found)[:_PAGE])
    incidents = selectors.incidents_of_job(found)[:_PAGE]
    context = {
        "job": found,
        "attempts": attempts,
        "incidents": incidents,
        "course": course_of(found, attempts, now=timezone.now()),
    }
    return render(request, "incidents/job.html", context)


@require_safe
def hosts(request: PageRequest) -> HttpResponse:
    words, state = request.GET.get("name", "").strip(), request.GET.get("state", "")
    found = selectors.hosts()
    if words:
        found = found.filter(normalised_name__contains=normalise_host(words))
    if state in HostState.values:
        found = found.filter(state=state)
    worst = request.GET.get("order") == "worst"
    if worst:
        found = found.order_by("-lemon_score", "normalised_name", "id")
    cluster, tor = request.GET.get("cluster", ""), request.GET.get("tor")
    if cluster:
        found = found.filter(cluster__name=cluster)
    if tor is not None:
        found = found.filter(tor=tor)
    page = page_of(found, after=request.GET.get("after", ""), size=_PAGE)
    context = {
        **_places(request, found, page),
        "words": words,
        "state": state,
        "states": HostState.choices,
        "left_out": state if state not in HostState.values else "",
        "cluster": cluster,
        "tor": tor,
        "worst": worst,
        "worst_query": _query(request, order="worst"),
    }
    return render(request, "incidents/hosts.html", context)


def _places(request: PageRequest, rows: QuerySet[Row], page: Page[Row]) -> dict[str, object]:
    """A page of a list with its place in it and the ways to the others."""
    place = place_of(rows, page, size=_PAGE)
    return {
        "page": page,
        "place": place,
        "count": rows.count(),
        "first_query": _query(request),
        "previous_query": _query(request, after=place.previous),
        "next_query": _query(request, after=page.next),
    }


def _query(request: PageRequest, *, after: str = "", order: str = "") -> str:
    """The same filters at another place of the list, or in another order from its start."""
    there = request.GET.copy()
    there["after"] = after
    there["order"] = order or there.get("order", "")
    return f"?{there.urlencode()}"


@require_safe
def host(request: PageRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(selectors.hosts(), pk=pk)
    shown = _PAGE if "whole" in request.GET else _NEWEST
    lists: dict[str, list[object]] = {
        "incidents": list(selectors.incidents_of_host(found)[: shown + 1]),
        "accusations": list(selectors.accusations_of(found)[: shown + 1]),
        "placements": list(selectors.placements_on(found)[: shown + 1]),
        "decisions": list(selectors.decisions_about(found)[: shown + 1]),
        "events": list(selectors.events_of_host(found)[: shown + 1]),
    }
    context = {
        "host": found,
        **{name: rows[:shown] for name, rows in lists.items()},
        "shown": shown,
        "is_cut": any(len(rows) > shown for rows in lists.values()),
        "most": _PAGE,
        **past_of(found),
        "states": HostState.choices,
    }
    return render(request, "incidents/host.html", context)


@require_POST
def host_state(request: PageRequest, pk: int) -> HttpResponse:
    """Notes where a host stands; `seen` is the state that the page showed."""
    found, form = get_object_or_404(Host, pk=pk), HostStateForm(request.POST)
    try:
        if not form.is_valid():
            raise InvalidInput("Choose where the host stands.", field="state")
        state = HostState(form.cleaned_data["state"])
        note, seen = form.cleaned_data["note"], form.cleaned_data["seen"]
        set_state(actor=actor_of(request), host=found, state=state, note=note, seen_state=seen)
        messages.success(request, f"{found} is noted as {state.label.lower()}.")
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except RecordsError as error:
        messages.error(request, str(error))
    return redirect("incidents:host", pk=pk)


@require_safe
@vary_on_headers("HX-Request")
def placement(request: PageRequest, pk: int) -> HttpResponse:
    attempt = get_object_or_404(selectors.attempts(), pk=pk)
    context = {"attempt": attempt, "placements": selectors.placements_by_host(attempt)}
    name = "incidents/_placement.html" if request.htmx else "incidents/placement.html"
    return render(request, name, context)
