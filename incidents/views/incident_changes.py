"""What people do to an incident from its page: one service each."""

from typing import Any

from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from incidents import selectors
from incidents.choices import Action, DecisionKind, IncidentKind, Resolution, Severity
from incidents.exceptions import InvalidInput
from incidents.forms import AssignForm, CorrectionForm, DecisionForm, NoteForm, StepForm
from incidents.models import Incident, Recommendation
from incidents.services import diagnoses
from incidents.services import incidents as services
from incidents.services.correcting import Correction
from incidents.services.decisions import decide as decide_about
from incidents.services.decisions import next_step
from incidents.views.answers import change, changed
from incidents.views.requests import PageRequest, actor_of

PAGE = "incidents:incident"


def _checked(form: Form) -> dict[str, Any]:
    """The form's values; the first thing that is wrong with them as a refusal."""
    if form.is_valid():
        return form.cleaned_data
    field, errors = next(iter(form.errors.items()))
    raise InvalidInput(f"{field.capitalize()}: {errors[0]}", field=field)


@change
def acknowledge(request: PageRequest, pk: int) -> HttpResponse:
    incident = get_object_or_404(Incident, pk=pk)
    given = _checked(StepForm(request.POST))
    services.acknowledge(
        actor=actor_of(request), incident=incident, expected_version=given["version"]
    )
    return changed(request, f"{incident.reference} is acknowledged.", to=PAGE, pk=pk)


@change
def mitigate(request: PageRequest, pk: int) -> HttpResponse:
    incident = get_object_or_404(Incident, pk=pk)
    given = _checked(StepForm(request.POST))
    services.mitigate(
        actor=actor_of(request),
        incident=incident,
        note=given["note"],
        expected_version=given["version"],
    )
    return changed(request, f"{incident.reference} is mitigated.", to=PAGE, pk=pk)


@change
def resolve(request: PageRequest, pk: int) -> HttpResponse:
    incident = get_object_or_404(Incident, pk=pk)
    given = _checked(StepForm(request.POST))
    if not given["resolution"]:
        raise InvalidInput("Say how it ended: choose a resolution.", field="resolution")
    services.resolve(
        actor=actor_of(request),
        incident=incident,
        resolution=Resolution(given["resolution"]),
        note=given["note"],
        expected_version=given["version"],
    )
    return changed(request, f"{incident.reference} is resolved.", to=PAGE, pk=pk)


@change
def reopen(request: PageRequest, pk: int) -> HttpResponse:
    incident = get_object_or_404(Incident, pk=pk)
    given = _checked(StepForm(request.POST))
    services.reopen(
        actor=actor_of(request),
        incident=incident,
        note=given["note"],
        expected_version=given["version"],
    )
    return changed(request, f"{incident.reference} is open again.", to=PAGE, pk=pk)


@change
def assign(request: PageRequest, pk: int) -> HttpResponse:
    incident = get_object_or_404(Incident, pk=pk)
    given = _checked(AssignForm(request.POST))
    services.assign(
        actor=actor_of(request),
        incident=incident,
        assignee=given["assignee"],
        expected_version=given["version"],
    )
    whom = given["assignee"] or "nobody"
    return changed(request, f"{incident.reference} is assigned to {whom}.", to=PAGE, pk=pk)


@require_safe
def correction(request: PageRequest, pk: int) -> HttpResponse:
    """The form, asked for when someone opens it: its list of attempts is long."""
    incident = get_object_or_404(selectors.incidents(), pk=pk)
    now = {name: getattr(incident, name) for name in ("title", "kind", "severity", "attempt")}
    context = {"incident": incident, "form": CorrectionForm(initial=now, incident=incident)}
    name = "incidents/_correction.html" if request.htmx else "incidents/correction.html"
    return render(request, name, context)


@change
def correct(request: PageRequest, pk: int) -> HttpResponse:
    incident = get_object_or_404(Incident, pk=pk)
    given = _checked(CorrectionForm(request.POST, incident=incident))
    services.correct(
        actor=actor_of(request),
        incident=incident,
        correction=Correction(
            title=given["title"],
            kind=IncidentKind(given["kind"]),
            severity=Severity(given["severity"]),
            attempt=given["attempt"],
        ),
        expected_version=given["version"],
    )
    return changed(request, f"{incident.reference} is corrected.", to=PAGE, pk=pk)


@change
def note(request: PageRequest, pk: int) -> HttpResponse:
    incident = get_object_or_404(Incident, pk=pk)
    given = _checked(NoteForm(request.POST))
    services.add_note(actor=actor_of(request), incident=incident, text=given["text"])
    return changed(request, "The note is in the timeline.", to=PAGE, pk=pk)


@change
def diagnose(request: PageRequest, pk: int) -> HttpResponse:
    incident = get_object_or_404(Incident, pk=pk)
    run = diagnoses.request_diagnosis(actor=actor_of(request), incident=incident)
    return changed(request, f"Diagnosis {run.number} is asked for.", to=PAGE, pk=pk)


@change
def decide(request: PageRequest, pk: int, recommendation: int) -> HttpResponse:
    about = get_object_or_404(Recommendation, pk=recommendation, diagnosis__incident=pk)
    given = _checked(DecisionForm(request.POST))
    action = given["changed_action"]
    decision = decide_about(
        actor=actor_of(request),
        recommendation=about,
        kind=DecisionKind(given["kind"]),
        reason=given["reason"],
        changed_action=Action(action) if action else None,
        changed_target=given["changed_target"],
        seen_decision=given["seen"],
    )
    text = f"{decision.get_kind_display()}: {about}. {next_step(decision)}".strip()
    return changed(request, text, to=PAGE, pk=pk)
