"""The version of the rules that a diagnosis used: who changed what, and why."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from diagnosis.services import versions
from diagnosis.taxonomy.ruleset import Taxonomy

#: Versions with the same rules that one page shows.
_SHOWN = 5


@require_safe
def version(request: HttpRequest, name: str) -> HttpResponse:
    """The versions of this name, newest first; several where only texts differ."""
    found = versions.versions_called(name)
    shown = [
        {
            "version": one,
            "changes": versions.changes_of(one),
            "first": versions.is_first(one),
            "clusters": one.in_clusters.filter(version=name),
        }
        for one in found[:_SHOWN]
    ]
    context = {
        "name": name,
        "shown": shown,
        "more": max(0, found.count() - len(shown)),
        "as_shipped": name == Taxonomy.default().version,
    }
    return render(
        request,
        "diagnosis/version.html",
        context,
        status=200 if shown or name == Taxonomy.default().version else 404,
    )
