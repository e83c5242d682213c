"""Noting on a host's page what repair found: what a decision was worth."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from incidents import selectors
from incidents.choices import Outcome
from incidents.exceptions import InvalidInput, NotAllowed, RecordsError
from incidents.forms import RepairForm
from incidents.services.decisions import record_outcome
from incidents.views.requests import PageRequest, actor_of


@require_POST
def repaired(request: PageRequest, pk: int, decision: int) -> HttpResponse:
    """Notes on a decision about this host whether the part was bad."""
    host = get_object_or_404(selectors.hosts(), pk=pk)
    about = get_object_or_404(selectors.decisions_about(host), pk=decision)
    form = RepairForm(request.POST)
    try:
        if not form.is_valid():
            raise InvalidInput("Choose what repair found.", field="found")
        found = Outcome(form.cleaned_data["found"])
        note = form.cleaned_data["note"]
        record_outcome(actor=actor_of(request), decision=about, outcome=found, note=note)
        messages.success(request, f"Noted: {found.label.lower()}. Reports count it.")
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except RecordsError as error:
        messages.error(request, str(error))
    return redirect("incidents:host", pk=pk)
