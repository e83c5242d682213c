"""Carrying a decision out from the incident's page: see the command, then have it run."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404

from incidents import selectors
from incidents.models import Recommendation
from incidents.services import executions
from incidents.views.answers import change, changed
from incidents.views.requests import PageRequest, actor_of

PAGE = "incidents:incident"


@change
def plan(request: PageRequest, pk: int, recommendation: int) -> HttpResponse:
    """Shows what would run; nothing does."""
    about = get_object_or_404(Recommendation, pk=recommendation, diagnosis__incident=pk)
    made, _ = executions.plan(actor=actor_of(request), recommendation=about)
    return changed(request, f"Nothing ran. This would: {made}", to=PAGE, pk=pk)


@change
def run(request: PageRequest, pk: int, execution: int) -> HttpResponse:
    """Has the command run that the page shows."""
    rows = selectors.executions().filter(recommendation__diagnosis__incident=pk)
    found = get_object_or_404(rows, pk=execution)
    confirm = request.POST.get("confirm") == "yes"
    executions.ask_to_run(actor=actor_of(request), execution=found, confirm=confirm)
    return changed(request, f"A worker runs: {found}", to=PAGE, pk=pk)
