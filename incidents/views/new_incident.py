"""Opening an incident by hand, with its evidence."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from incidents.choices import IncidentKind, Severity
from incidents.exceptions import NotAllowed, RecordsError
from incidents.forms import NewIncidentForm
from incidents.models import Incident
from incidents.roles import Capability
from incidents.services import diagnoses
from incidents.services.incidents import open_incident
from incidents.services.opening import UNTITLED
from incidents.views.answers import status_of
from incidents.views.evidence import attach_all, words_of
from incidents.views.permitted import needs
from incidents.views.requests import PageRequest, actor_of


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Capability.RESPOND)
def new(request: PageRequest) -> HttpResponseBase:
    """The form, and what it makes. A script asks for JSON and sends the files afterwards."""
    try:
        form = _form(request)
        if request.method != "POST" or not form.is_valid():
            status = 422 if form.is_bound else 200
            return render(request, "incidents/new.html", {"form": form}, status=status)
        return _made(request, form)
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except RecordsError as error:
        form.add_error(None, str(error))
        return render(request, "incidents/new.html", {"form": form}, status=status_of(error))


def _form(request: PageRequest) -> NewIncidentForm:
    if request.method != "POST":
        return NewIncidentForm()
    return NewIncidentForm(request.POST, request.FILES)


def _made(request: PageRequest, form: NewIncidentForm) -> HttpResponse:
    incident, created = _open(request, form)
    if not created:
        messages.info(request, f"Joined {incident.reference}, which is open for this attempt.")
    page = reverse("incidents:incident", kwargs={"pk": incident.pk})
    if not request.accepts("text/html"):
        upload = reverse("incidents:upload", kwargs={"pk": incident.pk})
        return JsonResponse({"page": page, "upload": upload})
    if results := attach_all(request, incident):
        messages.success(request, words_of(results))
        diagnoses.request_diagnosis(actor=actor_of(request), incident=incident)
    return redirect(page)


def _open(request: PageRequest, form: NewIncidentForm) -> tuple[Incident, bool]:
    attempt = form.cleaned_data["attempt"]
    title = form.cleaned_data["title"] or (str(attempt.job) if attempt else UNTITLED)
    return open_incident(
        actor=actor_of(request),
        title=title,
        kind=IncidentKind(form.cleaned_data["kind"]),
        severity=Severity(form.cleaned_data["severity"] or Severity.MEDIUM),
        attempt=attempt,
    )
