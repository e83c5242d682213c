"""An incident on one page, for a ticket or a vendor's return form: to print, or as Markdown."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from incidents import selectors
from incidents.views.requests import PageRequest
from incidents.views.sheet_contents import sheet_of
from incidents.views.sheet_markdown import markdown


@require_safe
def sheet(request: PageRequest, pk: int) -> HttpResponse:
    """The page to print."""
    found = get_object_or_404(selectors.incident_with_hosts(), pk=pk)
    address = request.build_absolute_uri(reverse("incidents:incident", args=[pk]))
    context = {"sheet": sheet_of(found), "address": address, "now": timezone.now()}
    return render(request, "incidents/sheet.html", context)


@require_safe
def sheet_markdown(request: PageRequest, pk: int) -> HttpResponse:
    """The same as Markdown, to paste into a ticket."""
    found = get_object_or_404(selectors.incident_with_hosts(), pk=pk)
    address = request.build_absolute_uri(reverse("incidents:incident", args=[pk]))
    text = markdown(sheet_of(found), address=address, now=timezone.now())
    response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{found.reference}.md"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
