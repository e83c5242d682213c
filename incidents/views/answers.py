"""How a change is answered: a live page is told and asks again, a plain one is redirected."""

from collections.abc import Callable, Sequence
from functools import wraps
from http import HTTPStatus

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from incidents import selectors
from incidents.exceptions import (
    EvidenceTooLarge,
    InvalidInput,
    NotAllowed,
    RecordsError,
    StaleVersion,
    StorageFull,
)
from incidents.models import Batch, Decision, Incident
from incidents.views.conflict import conflict
from incidents.views.requests import PageRequest

View = Callable[..., HttpResponseBase]

#: A header names so many rows at most; of more, a live page shows the whole list anew.
_NAMED_ROWS = 100

_STATUS: dict[type[RecordsError], HTTPStatus] = {
    StaleVersion: HTTPStatus.PRECONDITION_FAILED,
    InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    EvidenceTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    StorageFull: HTTPStatus.INSUFFICIENT_STORAGE,
}


def change(view: View) -> View:
    """A view that changes something by POST, with every refusal of a service answered."""

    @wraps(view)
    def answering(request: PageRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except NotAllowed as error:
            raise PermissionDenied(str(error)) from error
        except RecordsError as error:
            return _refused(request, error, kwargs.get("pk"))

    return require_POST(answering)


def changed(
    request: PageRequest,
    text: str,
    *,
    to: str,
    pk: int | None = None,
    undo: Batch | Decision | None = None,
    leads_there: bool = False,
    incidents: Sequence[Incident] = (),
    level: str = "success",
) -> HttpResponse:
    """The change was made; `to` names the page that shows it, `undo` is what can be taken back.

    A live page stays and looks again, unless the change `leads_there`; rows of `incidents` that it
    brings back are shown at once.
    """
    if leads_there and request.htmx:
        messages.success(request, text)
        return HttpResponseClientRedirect(reverse(to, kwargs={"pk": pk}))
    if not request.htmx:
        messages.success(request, text)
        return redirect(to, pk=pk) if pk else redirect(to)
    response = HttpResponse(status=HTTPStatus.NO_CONTENT)
    told = {"level": level, "text": text}
    if undo is not None:
        told["undo"] = _way_back(undo)
    trigger_client_event(response, "notice", told)
    rows = [one.pk for one in incidents]
    shown = {"all": True} if len(rows) > _NAMED_ROWS else {"incidents": rows}
    return trigger_client_event(response, "changed", shown)


def _way_back(what: Batch | Decision) -> str:
    if isinstance(what, Batch):
        return reverse("incidents:undo", kwargs={"batch": what.pk})
    incident = what.recommendation.diagnosis.incident_id
    return reverse("incidents:take-back", kwargs={"pk": incident, "decision": what.pk})


def status_of(error: RecordsError) -> HTTPStatus:
    """The HTTP status that a refusal has on pages."""
    return _STATUS.get(type(error), HTTPStatus.CONFLICT)


def words_of(error: RecordsError, pk: object) -> str:
    """What to tell the person; for a stale version, who was first and what to do."""
    if not isinstance(error, StaleVersion) or not isinstance(pk, int):
        return str(error)
    last = selectors.last_change(Incident(pk=pk))
    if last is None:
        return str(error)
    seconds = int((timezone.now() - last.time).total_seconds())
    ago = f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
    return (
        f"Changed meanwhile by {last.actor}, {ago} ago: {last.text}. "
        "Nothing of yours was saved. Look at the newest state, then send it again."
    )


def _refused(request: PageRequest, error: RecordsError, pk: object) -> HttpResponse:
    text = words_of(error, pk)
    if request.htmx and isinstance(error, StaleVersion) and isinstance(pk, int):
        response = conflict(request, error, pk, text)
        trigger_client_event(response, "stale")
        return trigger_client_event(response, "changed")
    if not request.htmx:
        messages.error(request, text)
        return redirect("incidents:incident", pk=pk) if pk else redirect("incidents:desk")
    response = HttpResponse(text, status=status_of(error), content_type="text/plain")
    trigger_client_event(response, "notice", {"level": "error", "text": text})
    return response
