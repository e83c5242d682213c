"""One step on several incidents of the desk, and taking it back."""

from collections.abc import Sequence

from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404

from incidents import selectors
from incidents.choices import BatchStep
from incidents.exceptions import InvalidInput
from incidents.forms import snooze_end
from incidents.models import Batch, Incident, User
from incidents.services import batches
from incidents.services.batches import Done, Wanted
from incidents.views.answers import change, changed
from incidents.views.desk_filters import sought
from incidents.views.requests import PageRequest, actor_of

_DESK = "incidents:desk"
#: So many reasons are told, each with so many of the incidents that it kept from the step.
_REASONS = _NAMED = 3


@change
def change_many(request: PageRequest) -> HttpResponse:
    """Takes one step on the chosen incidents; those that refuse are named."""
    done = batches.change_many(
        actor=actor_of(request), incidents=_chosen(request), wanted=_wanted(request)
    )
    undo = done.batch if done.changed else None
    level = "success" if done.changed else "warning"
    return changed(request, _words(done), to=_DESK, undo=undo, incidents=done.changed, level=level)


@change
def undo(request: PageRequest, batch: int) -> HttpResponse:
    """Takes back what a notice told of."""
    found = get_object_or_404(Batch, pk=batch)
    done = batches.undo(actor=actor_of(request), batch=found)
    text = f"Taken back on {_counted(len(done.changed))}."
    return changed(request, _with_refused(text, done), to=_DESK, incidents=done.changed)


def _chosen(request: PageRequest) -> Sequence[Incident]:
    """The ticked ones, or all that match a list's filters, up to the newest that it knew of.

    Raises `InvalidInput` for filters that make no sense: without them it would be others.
    """
    given = request.POST
    if "matching" not in given:
        ticked = Incident.objects.filter(pk__in=_keys(given.getlist("incident")))
        return list(ticked.order_by("pk"))
    asked = sought(QueryDict(given["matching"].removeprefix("?")), request)
    newest = _keys([given.get("newest", "")])
    if asked.left_out or not newest:
        raise InvalidInput("These filters make no sense: choose once more.", field="matching")
    return list(asked.incidents.filter(pk__lte=newest[0])[: batches.MOST])


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
    did = done.batch.get_step_display().lower()
    if not done.refused:
        return f"{_counted(count)} {did}."
    return _with_refused(f"{count:,} of {count + len(done.refused):,} {did}.", done)


def _with_refused(text: str, done: Done) -> str:
    """The text, then why the others were left alone, those of one reason together."""
    kept: dict[str, list[str]] = {}
    for reference, why in done.refused.items():
        kept.setdefault(why, []).append(reference)
    told = [f"{_named(references)}: {why}" for why, references in list(kept.items())[:_REASONS]]
    more = sum(len(references) for references in list(kept.values())[_REASONS:])
    rest = [f"{more:,} more were left as they are."] if more else []
    return " ".join([text, *told, *rest])


def _named(references: Sequence[str]) -> str:
    more = len(references) - _NAMED
    return ", ".join(references[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _counted(count: int) -> str:
    return f"{count:,} incident{'' if count == 1 else 's'}"


def _keys(given: list[str]) -> list[int]:
    return [int(key) for key in given[: batches.MOST] if key.isdecimal() and len(key) < 18]
