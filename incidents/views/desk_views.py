"""Views of the desk: the tabs above the list, saving one, and the page to look after them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from incidents import selectors
from incidents.exceptions import InvalidInput
from incidents.forms import ViewForm
from incidents.services import views as services
from incidents.views.answers import change, changed
from incidents.views.requests import PageRequest, actor_of

#: Views that everybody has: name, and the end of the address.
_OWN = (
    ("Open", "status=open"),
    ("Mine", "assignee=me"),
    ("Nobody’s", "assignee=none"),
    ("Needs a decision", "undecided=yes"),
    ("Snoozed", "snoozed=yes"),
)


@dataclass(frozen=True, slots=True)
class Tab:
    """One view: where it leads, and whether it is the one that is shown."""

    name: str
    query: str
    on: bool
    whose: str = ""


def tabs(request: PageRequest) -> Sequence[Tab]:
    """The views that everybody has, then one's own and shared ones, in two queries at most."""
    here = services.filters_of(request.META.get("QUERY_STRING", ""))
    saved = list(selectors.views_for(request.user))
    marked = request.GET.get("view", "")
    found = [
        Tab(name, query, on=not marked and here == ("" if query == "status=open" else query))
        for name, query in _OWN
    ]
    if here == "status=open" and not marked:
        found[0] = Tab(*_OWN[0], on=True)
    for view in saved:
        own = view.owner_id == request.user.pk
        query = "&".join(part for part in (view.query or "status=open", f"view={view.pk}") if part)
        on = marked == str(view.pk) and here == (view.query or "status=open")
        found.append(Tab(view.name, query, on, "" if own else view.owner.get_username()))
    return found


@require_safe
def views(request: PageRequest) -> HttpResponse:
    """One's own and shared views, to rename nothing and share, choose or delete each."""
    context = {"views": selectors.views_for(request.user)}
    return render(request, "incidents/views.html", context)


@change
def save(request: PageRequest) -> HttpResponse:
    """Keeps the desk's filters under a name, and shows that view."""
    form = ViewForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("A view needs a name of at most 60 characters.", field="name")
    view = services.save_view(
        actor=actor_of(request),
        owner=request.user,
        name=form.cleaned_data["name"],
        query=form.cleaned_data["query"],
        shared=form.cleaned_data["shared"],
        first=form.cleaned_data["first"],
    )
    there = f"/?{view.query or 'status=open'}&view={view.pk}"
    if not request.htmx:
        return redirect(there)
    response = HttpResponse(status=204)
    response["HX-Redirect"] = there
    return response


@change
def change_view(request: PageRequest, view: int) -> HttpResponse:
    """Shares a view or not, makes it one's first page, or deletes it, as `do` says."""
    found = get_object_or_404(selectors.views_for(request.user), pk=view)
    actor, page = actor_of(request), "incidents:views"
    match request.POST.get("do"):
        case "share":
            services.share_view(actor=actor, view=found, shared=True)
            text = f"{found} is shared with everybody."
        case "keep":
            services.share_view(actor=actor, view=found, shared=False)
            text = f"{found} is yours alone."
        case "first":
            services.make_first(actor=actor, person=request.user, view=found)
            text = f"The desk begins with {found} for you."
        case "not-first":
            services.make_first(actor=actor, person=request.user, view=None)
            text = "The desk begins with all open incidents for you."
        case "delete":
            text = f"{found} is deleted."
            services.delete_view(actor=actor, view=found)
        case _:
            raise InvalidInput("Choose what to do with the view.", field="do")
    return changed(request, text, to=page)
