"""Merging, taking out again, splitting, and tickets: how incidents and systems belong together."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from incidents import selectors
from incidents.choices import BatchStep
from incidents.exceptions import InvalidInput
from incidents.forms import MergeForm, OpenTicketForm, TicketForm
from incidents.models import Incident, TicketLink
from incidents.roles import Capability
from incidents.services import batches
from incidents.services.batches import Wanted
from incidents.services.merging import unmerge as take_out
from incidents.services.splitting import split as split_off
from incidents.services.ticket_opening import open_ticket
from incidents.services.tickets import link_ticket, unlink_ticket
from incidents.views.answers import change, changed
from incidents.views.desk_changes import incident_named
from incidents.views.incident_changes import checked
from incidents.views.permitted import needs
from incidents.views.requests import PageRequest, actor_of

PAGE = "incidents:incident"


@change
def merge(request: PageRequest, pk: int) -> HttpResponse:
    """Makes it part of another incident, which is shown then."""
    given = checked(MergeForm(request.POST))
    incident, into = get_object_or_404(Incident, pk=pk), incident_named(given["into"])
    done = batches.change_many(
        actor=actor_of(request),
        incidents=[incident],
        wanted=Wanted(step=BatchStep.MERGE, into=into),
        expected_version=given["version"],
    )
    text = f"{incident.reference} is part of {into.reference} now."
    return changed(request, text, to=PAGE, pk=into.pk, undo=done.batch, leads_there=True)


@change
def unmerge(request: PageRequest, pk: int) -> HttpResponse:
    """Takes it out of the incident that it was merged into."""
    incident = take_out(actor=actor_of(request), incident=get_object_or_404(Incident, pk=pk))
    text = f"{incident.reference} stands by itself again."
    return changed(request, text, to=PAGE, pk=pk, leads_there=True)


@require_safe
@needs(Capability.RESPOND)
def splitting(request: PageRequest, pk: int) -> HttpResponse:
    """The files and hosts of an incident, to choose what belongs to another one."""
    incident = get_object_or_404(selectors.incident_with_hosts(), pk=pk)
    context = {"incident": incident, "evidence": selectors.evidence_in_use(incident)}
    return render(request, "incidents/split.html", context)


@change
def split(request: PageRequest, pk: int) -> HttpResponse:
    """Makes the chosen files and hosts an incident of their own, which is shown then."""
    incident = get_object_or_404(selectors.incident_with_hosts(), pk=pk)
    version = request.POST.get("version", "")
    chosen = request.POST.getlist("evidence")
    files = selectors.evidence_in_use(incident).filter(pk__in=[k for k in chosen if k.isdecimal()])
    second = split_off(
        actor=actor_of(request),
        incident=incident,
        title=request.POST.get("title", ""),
        evidence=list(files),
        hosts=request.POST.getlist("host"),
        expected_version=int(version) if version.isdecimal() else None,
    )
    return redirect(PAGE, pk=second.pk)


@change
def link(request: PageRequest, pk: int) -> HttpResponse:
    """Notes a ticket about it in another system."""
    given = checked(TicketForm(request.POST))
    incident = get_object_or_404(Incident, pk=pk)
    ticket, _ = link_ticket(actor=actor_of(request), incident=incident, **given)
    return changed(request, f"{incident.reference} is linked to {ticket}.", to=PAGE, pk=pk)


@change
def open_one(request: PageRequest, pk: int) -> HttpResponse:
    """Asks for a ticket in a ticket system; the page shows once it is there."""
    given = checked(OpenTicketForm(request.POST))
    incident = get_object_or_404(Incident, pk=pk)
    serving = selectors.connectors_for(selectors.standing_record(incident))
    connector = next((one for one in serving if one.pk == given["connector"]), None)
    if connector is None:
        raise InvalidInput("No active ticket system of this kind is here.", field="connector")
    ticket, new = open_ticket(actor=actor_of(request), incident=incident, connector=connector)
    text = f"A ticket is being opened in {connector}." if new else f"{ticket} is there already."
    return changed(request, text, to=PAGE, pk=pk)


@change
def unlink(request: PageRequest, pk: int, ticket: int) -> HttpResponse:
    """Takes the link to a ticket away."""
    found = get_object_or_404(TicketLink.objects.select_related("incident"), pk=ticket, incident=pk)
    unlink_ticket(actor=actor_of(request), ticket=found)
    return changed(request, f"No longer linked to {found}.", to=PAGE, pk=pk)
