"""Jobs and hosts: where incidents happen."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from incidents import selectors
from incidents.choices import HostState
from incidents.exceptions import InvalidInput, NotAllowed, RecordsError
from incidents.forms import HostStateForm
from incidents.hostnames import normalise_host
from incidents.models import Host
from incidents.services.hosts import set_state
from incidents.views.paging import page_of
from incidents.views.requests import PageRequest, actor_of

_PAGE = 100


@require_safe
def jobs(request: PageRequest) -> HttpResponse:
    words = request.GET.get("name", "").strip()
    found = selectors.jobs_like(words) if words else selectors.jobs()
    page = page_of(found, after=request.GET.get("after", ""), size=_PAGE)
    return render(request, "incidents/jobs.html", {"page": page, "words": words})


@require_safe
def job(request: PageRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(selectors.jobs(), pk=pk)
    attempts = selectors.attempts_with_hosts(found)[:_PAGE]
    incidents = selectors.incidents().filter(job=found)[:_PAGE]
    context = {"job": found, "attempts": attempts, "incidents": incidents}
    return render(request, "incidents/job.html", context)


@require_safe
def hosts(request: PageRequest) -> HttpResponse:
    words, state = request.GET.get("name", "").strip(), request.GET.get("state", "")
    found = selectors.hosts()
    if words:
        found = found.filter(normalised_name__contains=normalise_host(words))
    if state in HostState.values:
        found = found.filter(state=state)
    page = page_of(found, after=request.GET.get("after", ""), size=_PAGE)
    context = {"page": page, "words": words, "state": state, "states": HostState.choices}
    return render(request, "incidents/hosts.html", context)


@require_safe
def host(request: PageRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(selectors.hosts(), pk=pk)
    context = {
        "host": found,
        "incidents": selectors.incidents_of_host(found)[:_PAGE],
        "accusations": selectors.accusations_of(found)[:_PAGE],
        "placements": selectors.placements_on(found)[:_PAGE],
        "events": selectors.events_of_host(found)[:_PAGE],
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
