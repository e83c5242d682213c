"""Help: what the words on the pages mean."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from incidents.glossary import TERMS
from incidents.views.requests import PageRequest


@require_safe
def glossary(request: PageRequest) -> HttpResponse:
    """Every word, by its name."""
    terms = sorted(TERMS.items(), key=lambda one: one[1].name.lower())
    return render(request, "incidents/glossary.html", {"terms": terms})
