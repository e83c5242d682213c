"""The page that asks again before one host too many is taken out."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from incidents.forms import DecisionForm
from incidents.models import Recommendation
from incidents.roles import Capability
from incidents.services.blast_radius import blast_radius
from incidents.views.permitted import needs
from incidents.views.requests import PageRequest

#: What a decision is made of; the question's page hands it on.
_GIVEN = ("kind", "reason", "changed_action", "changed_target", "seen")


def asked_again(request: PageRequest, about: Recommendation) -> HttpResponse:
    """Leads to the question, with what was decided kept."""
    given = {name: request.POST[name] for name in _GIVEN if request.POST.get(name)}
    pk = about.diagnosis.incident_id
    address = reverse("incidents:confirm-isolation", args=[pk, about.pk]) + f"?{urlencode(given)}"
    if not request.htmx:
        return redirect(address)
    return HttpResponse(headers={"HX-Redirect": address})


@require_safe
@needs(Capability.RESPOND)
def confirm(request: PageRequest, pk: int, recommendation: int) -> HttpResponse:
    """Why it is a question now, and the way back; back at once where it is none any more."""
    about = get_object_or_404(
        Recommendation.objects.select_related("diagnosis__incident__cluster"),
        pk=recommendation,
        diagnosis__incident=pk,
    )
    form = DecisionForm(request.GET)
    if not form.is_valid():
        return redirect("incidents:incident", pk=pk)
    host = form.cleaned_data["changed_target"] or about.target_host
    question = blast_radius(about.diagnosis.incident.cluster, host).question
    if not question:
        return redirect("incidents:incident", pk=pk)
    context = {
        "incident": about.diagnosis.incident,
        "recommendation": about,
        "host": host,
        "question": question,
        "given": {name: request.GET[name] for name in _GIVEN if request.GET.get(name)},
    }
    return render(request, "incidents/confirm_isolation.html", context)
