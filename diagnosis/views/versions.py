"""The version of the rules that a diagnosis used: who changed what, and why."""

import re

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from diagnosis.services import versions
from diagnosis.taxonomy.ruleset import Taxonomy

#: Versions with the same rules that one page shows.
_SHOWN = 5
_SUITE = re.compile(r"suite-(.+)-(\d+)")


@require_safe
def version(request: HttpRequest, name: str) -> HttpResponse:
    """The versions of this name, newest first; several where only texts differ. What a delivery
    check judged by is a version of its suite.
    """
    suite = _SUITE.fullmatch(name)
    if suite:
        return redirect(f"{reverse('diagnosis:suite', args=[suite[1]])}?version={suite[2]}")
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
