"""The triage desk: open incidents, worst first."""

import hashlib

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import condition, require_safe
from django.views.decorators.vary import vary_on_headers

from incidents import selectors
from incidents.choices import OPEN_STATUSES, IncidentStatus, Resolution
from incidents.filters import OPEN, IncidentFilter, named_incident
from incidents.forms import SNOOZES
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
    data, left_out = _wanted(request)
    status = data.get("status", OPEN)
    chosen = IncidentFilter(data, queryset=selectors.incidents(), request=request)
    found = chosen.qs
    if status not in {"all", IncidentStatus.RESOLVED}:
        found = selectors.worst_first(found)
    wanted = selectors.with_answer(found)
    page = page_of(wanted, after=data.get("after", ""), size=PAGE_SIZE)
    if not page.rows and not page.is_first:  # what stood here was resolved meanwhile
        page = page_of(wanted, after="", size=PAGE_SIZE)
    place = place_of(wanted, page, size=PAGE_SIZE)
    context = {
        "rows": desk_rows(page.rows),
        "page": page,
        "place": place,
        "summary": summary_of(wanted, status=status),
        "filtered": any(
            data.get(name) for name in chosen.filters if name not in {"status", "snoozed"}
        ),
        "left_out": left_out,
        "status": status,
        "snoozed": data.get("snoozed"),
        "next_query": _query(data, after=page.next),
        "previous_query": _query(data, after=place.previous),
        "first_query": _query(data, after=""),
    }
    if not page.rows:
        context["first"] = selectors.first_steps()
        context |= _elsewhere(request, data)
    if request.htmx:
        return render(request, "incidents/_desk.html", context)
    whole = {
        "menus": menus(data),
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
    there.pop("snoozed", None)
    found = IncidentFilter(there, queryset=selectors.incidents(), request=request).qs
    return {"elsewhere": found.order_by().count(), "elsewhere_query": _query(there, after="")}


def _wanted(request: PageRequest) -> tuple[QueryDict, dict[str, str]]:
    """The filters of the address, and those left out because they make no sense: name → why."""
    data = request.GET.copy()
    given = IncidentFilter(data, queryset=selectors.incidents(), request=request)
    left_out = {name: " ".join(map(str, texts)) for name, texts in given.errors.items()}
    for name in left_out:
        data.pop(name, None)
    data["status"] = status = data.get("status") or OPEN
    if status == OPEN or status in OPEN_STATUSES:
        data.setdefault("snoozed", "no")
    return data, left_out


def _query(data: QueryDict, *, after: str) -> str:
    """The same filters at another place of the list, as the end of an address."""
    there = QueryDict(mutable=True)
    for name, value in {**data.dict(), "after": after}.items():
        if value:
            there[name] = str(value)
    return f"?{there.urlencode()}"
