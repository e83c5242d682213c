"""What people do to an incident from its page: one service each."""

from typing import Any

from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from incidents import selectors
from incidents.choices import Action, BatchStep, DecisionKind, IncidentKind, Severity
from incidents.exceptions import InvalidInput, TooManyIsolations
from incidents.forms import (
    AssignForm,
    CorrectionForm,
    DecisionForm,
    NoteForm,
    SnoozeForm,
    StepForm,
    snooze_end,
)
from incidents.models import Decision, Incident, Recommendation
from incidents.roles import Capability
from incidents.services import batches, diagnoses
from incidents.services import incidents as services
from incidents.services.batches import Wanted
from incidents.services.correcting import Correction
from incidents.services.decisions import decide as decide_about
from incidents.services.decisions import next_step
from incidents.services.snoozing import wake as wake_up
from incidents.services.taking_back import take_back as taken_back
from incidents.views.answers import change, changed
from incidents.views.isolation import asked_again
from incidents.views.permitted import needs
from incidents.views.requests import PageRequest, actor_of

PAGE = "incidents:incident"


def checked(form: Form) -> dict[str, Any]:
    """The form's values; the first thing that is wrong with them as a refusal."""
    if form.is_valid():
        return form.cleaned_data
    field, errors = next(iter(form.errors.items()))
    raise InvalidInput(f"{field.capitalize()}: {errors[0]}", field=field)


def _take(request: PageRequest, pk: int, wanted: Wanted, version: int | None) -> HttpResponse:
    """One step on one incident, which can be taken back from the notice."""
    incident = get_object_or_404(Incident, pk=pk)
    done = batches.change_many(
        actor=actor_of(request), incidents=[incident], wanted=wanted, expected_version=version
    )
    did = done.batch.get_step_display().lower()
    if wanted.step == BatchStep.ASSIGN:
        did = f"assigned to {wanted.assignee or 'nobody'}"
    return changed(request, f"{incident.reference} is {did}.", to=PAGE, pk=pk, undo=done.batch)


@change
def acknowledge(request: PageRequest, pk: int) -> HttpResponse:
    given = checked(StepForm(request.POST))
    return _take(request, pk, Wanted(step=BatchStep.ACKNOWLEDGE), given["version"])


@change
def mitigate(request: PageRequest, pk: int) -> HttpResponse:
    incident = get_object_or_404(Incident, pk=pk)
    given = checked(StepForm(request.POST))
    services.mitigate(
        actor=actor_of(request),
        incident=incident,
        note=given["note"],
        expected_version=given["version"],
    )
    return changed(request, f"{incident.reference} is mitigated.", to=PAGE, pk=pk)


@change
def resolve(request: PageRequest, pk: int) -> HttpResponse:
    given = checked(StepForm(request.POST))
    if not given["resolution"]:
        raise InvalidInput("Say how it ended: choose a resolution.", field="resolution")
    wanted = Wanted(step=BatchStep.RESOLVE, resolution=given["resolution"], note=given["note"])
    return _take(request, pk, wanted, given["version"])


@change
def reopen(request: PageRequest, pk: int) -> HttpResponse:
    incident = get_object_or_404(Incident, pk=pk)
    given = checked(StepForm(request.POST))
    services.reopen(
        actor=actor_of(request),
        incident=incident,
        note=given["note"],
        expected_version=given["version"],
    )
    return changed(request, f"{incident.reference} is open again.", to=PAGE, pk=pk)


@change
def assign(request: PageRequest, pk: int) -> HttpResponse:
    given = checked(AssignForm(request.POST))
    wanted = Wanted(step=BatchStep.ASSIGN, assignee=given["assignee"])
    return _take(request, pk, wanted, given["version"])


@change
def snooze(request: PageRequest, pk: int) -> HttpResponse:
    given = checked(SnoozeForm(request.POST))
    wanted = Wanted(step=BatchStep.SNOOZE, until=snooze_end(given["snooze"]))
    return _take(request, pk, wanted, given["version"])


@change
def wake(request: PageRequest, pk: int) -> HttpResponse:
    given = checked(StepForm(request.POST))
    incident = get_object_or_404(Incident, pk=pk)
    wake_up(actor=actor_of(request), incident=incident, expected_version=given["version"])
    return changed(request, f"{incident.reference} is back on the desk.", to=PAGE, pk=pk)


@require_safe
@needs(Capability.RESPOND)
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
    given = checked(CorrectionForm(request.POST, incident=incident))
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
    given = checked(NoteForm(request.POST))
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
    given = checked(DecisionForm(request.POST))
    action = given["changed_action"]
    try:
        decision = decide_about(
            actor=actor_of(request),
            recommendation=about,
            kind=DecisionKind(given["kind"]),
            reason=given["reason"],
            changed_action=Action(action) if action else None,
            changed_target=given["changed_target"],
            seen_decision=given["seen"],
            confirm=given["confirm"],
        )
    except TooManyIsolations:
        return asked_again(request, about)
    text = f"{decision.get_kind_display()}: {about}. {next_step(decision)}".strip()
    return changed(request, text, to=PAGE, pk=pk, undo=decision)


@change
def take_back(request: PageRequest, pk: int, decision: int) -> HttpResponse:
    """The recommendation as it stood before a decision."""
    found = get_object_or_404(
        Decision.objects.select_related("recommendation"),
        pk=decision,
        recommendation__diagnosis__incident=pk,
    )
    taken_back(actor=actor_of(request), decision=found)
    return changed(request, f"Taken back: {found.recommendation}.", to=PAGE, pk=pk)
