"""The triage desk: open incidents, worst first."""

import hashlib

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import condition, require_safe
from django.views.decorators.vary import vary_on_headers

from incidents import selectors
from incidents.choices import IncidentStatus, Resolution
from incidents.exceptions import InvalidInput, TransitionRefused
from incidents.filters import OPEN, IncidentFilter
from incidents.models import Incident
from incidents.services import incidents as services
from incidents.views.answers import change, changed
from incidents.views.desk_rows import desk_rows, menus, summary_of
from incidents.views.paging import page_of
from incidents.views.requests import PageRequest, actor_of

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
    """The whole page, or its live part where htmx asks."""
    data = request.GET.copy()
    data["status"] = status = request.GET.get("status") or OPEN
    chosen = IncidentFilter(data, queryset=selectors.incidents(), request=request)
    found = chosen.qs
    if status not in {"all", IncidentStatus.RESOLVED}:
        found = selectors.worst_first(found)
    wanted = selectors.with_answer(found)
    page = page_of(wanted, after=data.get("after", ""), size=PAGE_SIZE)
    context = {
        "rows": desk_rows(page.rows),
        "page": page,
        "summary": summary_of(wanted, status=status),
        "filtered": any(data.get(name) for name in chosen.filters if name != "status"),
        "refused": chosen.errors,
        "status": status,
        "next_query": _query(data, after=page.next),
        "first_query": _query(data, after=""),
    }
    if request.htmx:
        return render(request, "incidents/_desk.html", context)
    whole = {"menus": menus(data), "resolutions": Resolution.choices}
    return render(request, "incidents/desk.html", context | whole)


def _query(data: QueryDict, *, after: str) -> str:
    """The same filters at another place of the list, as the end of an address."""
    there = QueryDict(mutable=True)
    for name, value in {**data.dict(), "after": after}.items():
        if value:
            there[name] = str(value)
    return f"?{there.urlencode()}"


@change
def change_many(request: PageRequest) -> HttpResponse:
    """Acknowledges, takes or resolves the chosen incidents; those that refuse are named."""
    chosen = Incident.objects.filter(pk__in=_keys(request.POST.getlist("incident")))
    done, refused = 0, []
    for incident in chosen:
        try:
            _change_one(request, incident)
        except TransitionRefused as error:
            refused.append(f"{incident.reference}: {error}")
        else:
            done += 1
    text = " ".join([f"{done} of {done + len(refused)} changed.", *refused[:3]])
    return changed(request, text, to="incidents:desk")


def _change_one(request: PageRequest, incident: Incident) -> None:
    actor = actor_of(request)
    do = request.POST.get("do")
    if do == "take":
        services.assign(actor=actor, incident=incident, assignee=request.user)
    elif do == "resolve":
        how = request.POST.get("resolution", "")
        if how not in Resolution.values:
            raise InvalidInput("Say how they ended: choose a resolution.", field="resolution")
        services.resolve(actor=actor, incident=incident, resolution=Resolution(how))
    else:
        services.acknowledge(actor=actor, incident=incident)


def _keys(given: list[str]) -> list[int]:
    return [int(key) for key in given[:500] if key.isdecimal() and len(key) < 18]
