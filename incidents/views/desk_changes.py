"""One step on several incidents of the desk, and taking it back."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404

from incidents import selectors
from incidents.choices import BatchStep
from incidents.exceptions import InvalidInput
from incidents.forms import snooze_end
from incidents.models import Batch, Incident, User
from incidents.services import batches
from incidents.services.batches import Done, Wanted
from incidents.views.answers import change, changed
from incidents.views.requests import PageRequest, actor_of

_DESK = "incidents:desk"


@change
def change_many(request: PageRequest) -> HttpResponse:
    """Takes one step on the chosen incidents; those that refuse are named."""
    chosen = Incident.objects.filter(pk__in=_keys(request.POST.getlist("incident")))
    done = batches.change_many(
        actor=actor_of(request), incidents=list(chosen.order_by("pk")), wanted=_wanted(request)
    )
    undo = done.batch if done.changed else None
    return changed(request, _words(done), to=_DESK, undo=undo, incidents=done.changed)


@change
def undo(request: PageRequest, batch: int) -> HttpResponse:
    """Takes back what a notice told of."""
    found = get_object_or_404(Batch, pk=batch)
    done = batches.undo(actor=actor_of(request), batch=found)
    count = len(done.changed)
    text = f"Taken back on {count} incident{'' if count == 1 else 's'}."
    return changed(request, " ".join([text, *done.refused[:3]]), to=_DESK, incidents=done.changed)


def _wanted(request: PageRequest) -> Wanted:
    given = request.POST
    do = given.get("do", "")
    match do:
        case "take":
            return Wanted(step=BatchStep.ASSIGN, assignee=request.user)
        case "assign":
            return Wanted(step=BatchStep.ASSIGN, assignee=_person(given.get("assignee", "")))
        case "resolve":
            return Wanted(
                step=BatchStep.RESOLVE,
                resolution=given.get("resolution", ""),
                note=given.get("note", "")[:4000],
            )
        case "merge":
            return Wanted(step=BatchStep.MERGE, into=incident_named(given.get("into", "")))
        case _ if do.startswith("snooze-"):
            return Wanted(step=BatchStep.SNOOZE, until=snooze_end(do.removeprefix("snooze-")))
    return Wanted(step=BatchStep.ACKNOWLEDGE)


def incident_named(reference: str) -> Incident:
    """The incident that someone means by `INC-12`, `#12` or `12`. Raises `InvalidInput`."""
    number = reference.strip().lower().removeprefix("inc-").removeprefix("#")
    found = None
    if number.isdecimal() and len(number) < 18:
        found = selectors.incidents().filter(pk=int(number)).first()
    if found is None:
        raise InvalidInput("Say which incident to merge into, such as INC-12.", field="into")
    return found


def _person(name: str) -> User | None:
    if not name:
        return None
    found = selectors.people().filter(username=name).first()
    if found is None:
        raise InvalidInput("There is nobody of that name here.", field="assignee")
    return found


def _words(done: Done) -> str:
    count = len(done.changed)
    whole = count + len(done.refused)
    did = done.batch.get_step_display().lower()
    told = f"{count} incident{'' if count == 1 else 's'} {did}."
    if done.refused:
        told = f"{count} of {whole} {did}."
    return " ".join([told, *done.refused[:3]])


def _keys(given: list[str]) -> list[int]:
    return [int(key) for key in given[:500] if key.isdecimal() and len(key) < 18]
