"""The triage desk: open incidents, worst first."""

import hashlib

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import condition, require_safe
from django.views.decorators.vary import vary_on_headers

from incidents import selectors
from incidents.choices import Resolution
from incidents.filters import named_incident
from incidents.forms import SNOOZES
from incidents.services.batches import MOST
from incidents.views.desk_filters import sought
from incidents.views.desk_rows import desk_rows, menus, summary_of
from incidents.views.desk_views import tabs
from incidents.views.paging import page_of, place_of
from incidents.views.requests import PageRequest

PAGE_SIZE = 50


def desk_tag(request: PageRequest) -> str | None:
    """The ETag of the live part; the whole page has none, since it carries a form's token."""
    if not request.htmx:
        return None
    person = (request.user.pk, request.user.role, request.get_full_path())
    known = repr((selectors.latest_change(), person))
    return f'"{hashlib.sha256(known.encode()).hexdigest()[:20]}"'


@require_safe
@vary_on_headers("HX-Request")
@condition(etag_func=desk_tag)
def desk(request: PageRequest) -> HttpResponse:
    """The whole page, or its live part where htmx asks; without filters, one's first view."""
    if not request.GET and not request.htmx and (first := request.user.default_view):
        return redirect(f"{request.path}?{first.query or 'status=open'}&view={first.pk}")
    if "go" in request.GET:
        return _straight_there(request)
    asked = sought(request.GET, request)
    wanted = selectors.with_answer(asked.incidents)
    page = page_of(wanted, after=asked.data.get("after", ""), size=PAGE_SIZE)
    if not page.rows and not page.is_first:  # what stood here was resolved meanwhile
        page = page_of(wanted, after="", size=PAGE_SIZE)
    place = place_of(wanted, page, size=PAGE_SIZE)
    context = {
        "rows": desk_rows(page.rows),
        "page": page,
        "place": place,
        "summary": summary_of(wanted, status=asked.status),
        "filtered": asked.is_narrowed,
        "left_out": asked.left_out,
        "status": asked.status,
        "snoozed": asked.data.get("snoozed"),
        "first_query": asked.query(),
        "next_query": asked.query(after=page.next),
        "previous_query": asked.query(after=place.previous),
        "most": MOST,
    }
    if not page.rows:
        context["first"] = selectors.first_steps()
        context |= _elsewhere(request, asked.data)
    if request.htmx:
        return render(request, "incidents/_desk.html", context)
    whole = {
        "menus": menus(asked.data),
        "tabs": tabs(request),
        "resolutions": Resolution.choices,
        "snoozes": SNOOZES,
        "people": selectors.people(),
    }
    return render(request, "incidents/desk.html", context | whole)


def _straight_there(request: PageRequest) -> HttpResponse:
    """Enter in the search: to the incident that it names, or to what is found."""
    found = named_incident(request.GET.get("q", ""))
    if found is not None:
        return redirect("incidents:incident", pk=found.pk)
    there = request.GET.copy()
    del there["go"]
    return redirect(f"{request.path}?{there.urlencode()}")


def _elsewhere(request: PageRequest, data: QueryDict) -> dict[str, object]:
    """How many the same search finds that are closed or snoozed, and where they are shown."""
    if not data.get("q") or data["status"] == "all":
        return {}
    there = data.copy()
    there["status"] = "all"
    for name in ("snoozed", "after"):
        there.pop(name, None)
    found = sought(there, request)
    return {"elsewhere": found.incidents.order_by().count(), "elsewhere_query": found.query()}
